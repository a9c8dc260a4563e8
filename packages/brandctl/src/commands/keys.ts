import type { Key } from "@brand-records/proto/accounts/v1";
import { Command, Option } from "commander";
import type { AccountsClient } from "../connection/clients.ts";
import { CommandFailure } from "../failure.ts";
import { printable } from "../output/printable.ts";
import { shortTime, table, type Column } from "../output/table.ts";
import type { Colors, Session } from "../session.ts";
import type { Shell } from "../shell.ts";
import { examples } from "./examples.ts";
import { findKeyBrand } from "./find-key-brand.ts";

export function keysCommand(shell: Shell): Command {
  const keys = new Command("keys").description("API keys: what integrations read a brand's records with");
  keys.addCommand(create(shell));
  keys.addCommand(list(shell));
  keys.addCommand(revoke(shell));
  return keys;
}

interface CreateOptions {
  readonly brand: string;
  readonly name: string;
  readonly environment: string;
  readonly permission: readonly string[];
  readonly by?: string;
}

function create(shell: Shell): Command {
  return new Command("create")
    .summary("make a key; it is shown once")
    .description(
      "Make a key for a verified brand on Plus or above. The key is shown once, now, and stored nowhere.\n" +
        "When standard output is no terminal, the key alone is written to it, so that it can be piped to where it is kept.",
    )
    .requiredOption("--brand <id>", "the brand whose records it reads")
    .requiredOption("--name <name>", "which integration it is for, up to 80 characters")
    .addOption(
      new Option("--environment <environment>", "the kind of deployment that accepts it").choices(["live", "test"]).default("live"),
    )
    .addOption(
      new Option(
        "--permission <permission...>",
        "beyond records:read, which every key has. campaigns:prepare: it may prepare campaign plans",
      )
        .choices(["campaigns:prepare"])
        .default([], "none"),
    )
    .option("--by <email>", "the owner it is made for (default: the brand's first owner)")
    .addHelpText(
      "after",
      examples(
        ["brandctl keys create --brand brd_01h455vb4pex5vsknk084sn02q --name Reporting", "a key that reads"],
        [
          "brandctl keys create --brand brd_… --name Planner --permission campaigns:prepare | gh secret set BRAND_KEY",
          "a key that may prepare plans, piped without showing it",
        ],
      ),
    )
    .action((options: CreateOptions, command: Command) =>
      shell.act(command, async (session) => {
        const accounts = await session.accounts();
        const { key, secret } = await accounts.createKey({
          brand_id: options.brand,
          name: options.name,
          environment: options.environment,
          permissions: [...options.permission],
          created_by: options.by ?? (await firstOwner(accounts, options.brand)),
        });
        if (key == null) throw new Error("accounts answered without a key");
        show(session, key, secret);
      }),
    );
}

function show(session: Session, key: Key, secret: string): void {
  session.note((colors) => `${table(keyColumns(colors), [key], colors, "")}\n`);
  session.print({ key, secret }, (colors) => colors.bold(colors.yellow(secret)));
  session.note(
    ({ bold }) => `\n${bold("The key is shown once.")} Keep it where the integration keeps its secrets; it cannot be shown again.`,
  );
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list a brand's keys")
    .description("List a brand's keys, newest first, revoked ones included. The keys themselves are stored nowhere and cannot be shown.")
    .argument("<brand>", "id of the brand")
    .action((brandId: string, _options: object, command: Command) =>
      shell.act(command, async (session) => {
        const { keys } = await (await session.accounts()).listKeys({ brand_id: brandId });
        const none = `The brand has no keys yet: brandctl keys create --brand ${printable(brandId)} --name NAME`;
        session.print({ keys }, (colors) => table(keyColumns(colors), keys, colors, none));
      }),
    );
}

function revoke(shell: Shell): Command {
  return new Command("revoke")
    .summary("revoke a key, for good")
    .description("Revoke a key. Final: it is refused from its next request on, and never works again.")
    .argument("<key>", "id of the key (key_…), as keys list shows it; not the key itself")
    .option("--by <email>", "the owner in whose name it is revoked (default: the first owner of the key's brand)")
    .option("--brand <id>", "the key's brand; saves looking for it when --by is not given")
    .addHelpText("after", examples(["brandctl keys revoke key_01h455vb4pex5vsknk084sn02q", "after a leak, or after its replacement works"]))
    .action((keyId: string, options: { by?: string; brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        if (keyId.startsWith("brk_"))
          throw new CommandFailure("invalid_request", "This is the key itself; its id is needed (key_…).", { hint: LEAKED });
        const accounts = await session.accounts();
        const by = options.by ?? (await firstOwner(accounts, options.brand ?? (await findKeyBrand(accounts, keyId))));
        const { key } = await session.untilEffective(accounts.revokeKey({ key_id: keyId, revoked_by: by }));
        if (key == null) throw new Error("accounts answered without a key");
        session.print({ key }, (colors) => table(keyColumns(colors), [key], colors, ""));
      }),
    );
}

const LEAKED = "brandctl keys list BRAND shows ids. This key is in your shell's history now: revoke it and make another.";

/** @throws CommandFailure when the brand has no owner */
async function firstOwner(accounts: AccountsClient, brandId: string): Promise<string> {
  const { members } = await accounts.listMembers({ brand_id: brandId });
  const owner = members.find(({ role }) => role === "owner");
  if (owner !== undefined) return owner.email;
  throw new CommandFailure("owner_required", "The brand has no owner, and keys are made and revoked by owners.", {
    hint: `brandctl members add ${brandId} EMAIL --role owner`,
  });
}

function keyColumns(colors: Colors): Column<Key>[] {
  return [
    { title: "ID", cell: ({ id }) => id, paint: colors.cyan },
    { title: "NAME", cell: ({ name }) => name },
    { title: "KEY", cell: ({ hint }) => hint },
    { title: "PERMISSIONS", cell: ({ permissions }) => permissions.join(", ") },
    { title: "CREATED (UTC)", cell: ({ created_at }) => shortTime(created_at) },
    { title: "BY", cell: ({ created_by }) => created_by },
    { title: "LAST USED", cell: ({ last_used_at }) => shortTime(last_used_at) },
    {
      title: "STATE",
      cell: ({ revoked_at }) => (revoked_at == null ? "active" : `revoked ${shortTime(revoked_at)}`),
      paint: (text, { revoked_at }) => (revoked_at == null ? colors.green(text) : colors.red(text)),
    },
  ];
}
