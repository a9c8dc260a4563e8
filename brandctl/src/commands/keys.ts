import { ADDED_PERMISSION_NAMES, ADDED_PERMISSIONS, READ_PERMISSION } from "@brand-records/ids";
import type { Key } from "@brand-records/proto/accounts/v1";
import { Command, Option } from "commander";
import { printable, shortTime } from "@brand-records/command-line";
import { brandOf, namedBrand } from "../brand-lookup.ts";
import { required } from "../failure.ts";
import { keysTable, keyText, LAST_USE_LAGS, useText } from "../output/key-text.ts";
import type { Session } from "../session.ts";
import type { Shell } from "../shell.ts";
import { findKey, firstOwner, keyArgument, revoke } from "./keys-revoke.ts";
import { brandCheckOption, brandOption, examples, textParser } from "./options.ts";
import { keysOf } from "../connection/read-pages.ts";

const PERMISSIONS_HELP = ADDED_PERMISSION_NAMES.map((name) => `${name}: ${ADDED_PERMISSIONS[name].allows}`).join("; ");

export function keysCommand(shell: Shell): Command {
  const keys = new Command("keys").description("create and revoke the API keys that read a brand's records");
  for (const command of [create, list, show, revoke]) keys.addCommand(command(shell));
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
        const { key, secret, same_name } = await accounts.createKey({
          brand_id: brandId,
          name,
          environment,
          permissions: [...permission],
          created_by: by ?? (await firstOwner(accounts, brandId)),
        });
        printSecret(session, required(key, "key"), secret);
        noteSameName(session, same_name);
      }),
    );
}

function printSecret(session: Session, key: Key, secret: string): void {
  session.note((colors) => `${keyText(key, colors)}\n`);
  session.print({ key, secret }, (colors) => colors.bold(colors.yellow(secret)));
  session.note(
    ({ bold }) => `\n${bold("The key is shown once.")} Keep it where the integration keeps its secrets; it cannot be shown again.`,
  );
}

/** A rotation that was not finished, or a mistake: the owner decides. */
function noteSameName(session: Session, others: readonly Key[]): void {
  if (others.length === 0) return;
  const which = others.length === 1 ? "Another active key has this name" : `${others.length} other active keys have this name`;
  session.note(({ yellow }) => `\n${yellow(`${which}:`)}`);
  for (const other of others) {
    const { id, hint, created_at } = other;
    session.note(() => printable(`  ${id}  ${hint}  created ${shortTime(created_at)} UTC, ${useText(other, Date.now())}`));
  }
  session.note(({ dim }) => dim(LAST_USE_LAGS));
  const id = others.length === 1 ? others[0]?.id : "KEY";
  session.note(({ dim }) => dim(printable(`If this one replaces it: brandctl keys revoke ${id}, once the new key works`)));
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list a brand's keys")
    .description(
      "List a brand's keys: those in use, then revoked ones, the newest first. The secrets are stored nowhere and cannot be shown. The time of last use may lag by a minute.",
    )
    .addOption(brandOption("the brand"))
    .action(({ brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = namedBrand(session, brand);
        const keys = await keysOf(await session.accounts(), brandId);
        const none = `The brand has no keys yet: brandctl keys create --brand ${printable(brandId)} --name NAME`;
        session.print({ keys }, (colors) => keysTable(keys, colors, none));
        if (keys.length > 0) session.note(({ dim }) => dim(LAST_USE_LAGS));
      }),
    );
}

function show(shell: Shell): Command {
  return new Command("show")
    .summary("show a key")
    .description("Show a key: its whole name, its permissions, who made it, and when it was last used. The secret cannot be shown.")
    .addArgument(keyArgument())
    .addOption(brandCheckOption("key"))
    .action((keyId: string, { brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const key = await findKey(await session.accounts(), await brandOf(session, "key", keyId, brand), keyId);
        session.print({ key }, (colors) => keyText(key, colors));
      }),
    );
}
