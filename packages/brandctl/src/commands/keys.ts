import { ADDED_PERMISSION_NAMES, ADDED_PERMISSIONS, READ_PERMISSION } from "@brand-records/api-key";
import type { Key } from "@brand-records/proto/accounts/v1";
import { Argument, Command, Option } from "commander";
import { brandOf, namedBrand } from "../brand-lookup.ts";
import type { AccountsClient } from "../connection/clients.ts";
import { CommandFailure, required, UsageFailure } from "../failure.ts";
import { requireId } from "../ids.ts";
import { shortTime } from "../output/format.ts";
import { printable } from "../output/printable.ts";
import { table, type Column } from "../output/table.ts";
import type { Session } from "../session.ts";
import type { Shell } from "../shell.ts";
import type { Colors } from "../terminal.ts";
import { brandCheckOption, brandOption, examples, textParser } from "./options.ts";

const PERMISSIONS_HELP = ADDED_PERMISSION_NAMES.map((name) => `${name}: ${ADDED_PERMISSIONS[name].allows}`).join("; ");

export function keysCommand(shell: Shell): Command {
  const keys = new Command("keys").description("create and revoke the API keys that read a brand's records");
  for (const command of [create, list, revoke]) keys.addCommand(command(shell));
  return keys;
}

interface CreateOptions {
  readonly brand?: string;
  readonly name: string;
  readonly environment: string;
  readonly permission: readonly string[];
  readonly by?: string;
}

function create(shell: Shell): Command {
  return new Command("create")
    .summary("make a key; it is shown once")
    .description(
      "Make a key for a verified brand on Plus or above. The key is shown once and stored nowhere. Standard output gets the key alone, so it can be piped to where the integration keeps its secrets.",
    )
    .addOption(brandOption("the brand whose records it reads"))
    .requiredOption("--name <name>", "the integration it is for, up to 80 characters", textParser("--name"))
    .addOption(new Option("--environment <environment>", "the deployments that accept it").choices(["live", "test"]).default("live"))
    .addOption(
      new Option("--permission <permission...>", `beyond ${READ_PERMISSION}, which every key has. ${PERMISSIONS_HELP}`)
        .choices(ADDED_PERMISSION_NAMES)
        .default([], "none"),
    )
    .option("--by <email>", "the owner it is made for (default: the brand's first owner)", textParser("--by"))
    .addHelpText(
      "after",
      examples(
        ["brandctl keys create --brand brd_… --name Reporting", "a key that reads"],
        [
          "brandctl keys create --brand brd_… --name Planner --permission campaigns:prepare | gh secret set BRAND_KEY",
          "a key that may prepare plans, piped without being shown",
        ],
      ),
    )
    .action(({ brand, name, environment, permission, by }: CreateOptions, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = namedBrand(session, brand);
        const accounts = await session.accounts();
        const { key, secret } = await accounts.createKey({
          brand_id: brandId,
          name,
          environment,
          permissions: [...permission],
          created_by: by ?? (await firstOwner(accounts, brandId)),
        });
        printSecret(session, required(key, "key"), secret);
      }),
    );
}

function printSecret(session: Session, key: Key, secret: string): void {
  session.note((colors) => `${table(keyColumns(colors), [key], colors, "")}\n`);
  session.print({ key, secret }, (colors) => colors.bold(colors.yellow(secret)));
  session.note(
    ({ bold }) => `\n${bold("The key is shown once.")} Keep it where the integration keeps its secrets; it cannot be shown again.`,
  );
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list a brand's keys")
    .description("List a brand's keys, newest first, revoked ones included. The secrets are stored nowhere and cannot be shown.")
    .addOption(brandOption("the brand"))
    .action(({ brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = namedBrand(session, brand);
        const { keys } = await (await session.accounts()).listKeys({ brand_id: brandId });
        const none = `The brand has no keys yet: brandctl keys create --brand ${printable(brandId)} --name NAME`;
        session.print({ keys }, (colors) => table(keyColumns(colors), keys, colors, none));
      }),
    );
}

function revoke(shell: Shell): Command {
  return new Command("revoke")
    .summary("revoke a key permanently")
    .description("Revoke a key. Final: from its next request on it is refused.")
    .addArgument(new Argument("<key>", "id of the key (key_…), not the key itself; see keys list").argParser(parseKeyId))
    .option("--by <email>", "the owner who revokes it (default: the first owner of the key's brand)", textParser("--by"))
    .addOption(brandCheckOption("key"))
    .addHelpText("after", examples(["brandctl keys revoke key_01h455vb4pex5vsknk084sn02q", "after a leak, or once its replacement works"]))
    .action((keyId: string, { by, brand }: { by?: string; brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = await brandOf(session, "key", keyId, brand);
        const accounts = await session.accounts();
        const revoked_by = by ?? (await firstOwner(accounts, brandId));
        const response = await session.untilEffective(accounts.revokeKey({ key_id: keyId, revoked_by, brand_id: brandId }));
        const key = required(response.key, "key");
        session.print({ key }, (colors) => table(keyColumns(colors), [key], colors, ""));
      }),
    );
}

const LEAKED = "brandctl keys list --brand BRAND shows the ids. This key is now in your shell's history: revoke it and make another.";

/** @throws UsageFailure for anything but the id of a key */
function parseKeyId(text: string): string {
  if (text.startsWith("brk_")) throw new UsageFailure("This is the key itself; its id is needed (key_…).", LEAKED);
  return requireId("The id of a key", "key", text);
}

/** @throws CommandFailure when the brand has no owner */
async function firstOwner(accounts: AccountsClient, brandId: string): Promise<string> {
  const { members } = await accounts.listMembers({ brand_id: brandId });
  const owner = members.find(({ role }) => role === "owner");
  if (owner !== undefined) return owner.email;
  throw new CommandFailure("owner_required", "The brand has no owner, and keys are made and revoked by owners.", {
    hint: `brandctl members add EMAIL --brand ${brandId} --role owner`,
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
