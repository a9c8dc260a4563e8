import { choice, declared, factsText, mandatory, printable, shortTime, withDefault } from "@brand-records/command-line";
import { ADDED_PERMISSION_NAMES, ADDED_PERMISSIONS, READ_PERMISSION } from "@brand-records/ids";
import type { Key } from "@brand-records/proto/accounts/v1";
import { Option } from "commander";
import { brandOf, namedBrand } from "../brand-lookup.ts";
import { keysOf } from "../connection/read-pages.ts";
import { required } from "../failure.ts";
import { KEY_COLUMNS, keyFacts, LAST_USE_LAGS, useText } from "../output/key-text.ts";
import { command, group, type Session } from "../session.ts";
import { findKey, firstOwner, keyArgument, revoke } from "./keys-revoke.ts";
import { brandCheckOption, brandOption, textOption } from "./options.ts";

const PERMISSIONS_HELP = ADDED_PERMISSION_NAMES.map((name) => `${name}: ${ADDED_PERMISSIONS[name].allows}`).join("; ");

const create = command("create", {
  summary: "make a key; it is shown once",
  description:
    "Make a key for a verified brand on Plus or above. The key is shown once and stored nowhere. Standard output gets the key alone, so it can be piped to where the integration keeps its secrets.",
  options: {
    brand: brandOption("the brand whose records it reads"),
    name: mandatory(textOption("--name <name>", "the integration it is for, up to 80 characters")),
    environment: withDefault(choice("--environment <environment>", "the deployments that accept it", ["live", "test"]), "live"),
    permissions: declared<string[]>(
      new Option("--permission <permission...>", `beyond ${READ_PERMISSION}, which every key has. ${PERMISSIONS_HELP}`)
        .choices(ADDED_PERMISSION_NAMES)
        .default([], "none"),
    ),
    created_by: textOption("--by <email>", "the owner it is made for (default: the brand's first owner)"),
  },
  examples: [
    ["brandctl keys create --brand brd_… --name Reporting", "a key that reads"],
    [
      "brandctl keys create --brand brd_… --name Planner --permission campaigns:prepare | gh secret set BRAND_KEY",
      "a key that may prepare plans, piped without being shown",
    ],
  ],
  run: async (session, { brand, created_by, ...request }) => {
    const brand_id = namedBrand(session, brand);
    const accounts = session.client("accounts");
    const owner = created_by ?? (await firstOwner(accounts, brand_id));
    const { key, secret, same_name } = await accounts.createKey({ brand_id, ...request, created_by: owner });
    printSecret(session, required(key, "key"), secret);
    noteSameName(session, same_name);
  },
});

function printSecret(session: Session, key: Key, secret: string): void {
  session.note((colors) => `${factsText(keyFacts(key), colors)}\n`);
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

const list = command("list", {
  summary: "list a brand's keys",
  description:
    "List a brand's keys: those in use, then revoked ones, the newest first. The secrets are stored nowhere and cannot be shown. The time of last use may lag by a minute.",
  options: { brand: brandOption("the brand") },
  run: async (session, { brand }) => {
    const brandId = namedBrand(session, brand);
    const keys = await keysOf(session.client("accounts"), brandId);
    const none = `The brand has no keys yet: brandctl keys create --brand ${printable(brandId)} --name NAME`;
    session.printTable({ keys }, KEY_COLUMNS, keys, none);
    if (keys.length > 0) session.note(({ dim }) => dim(LAST_USE_LAGS));
  },
});

const show = command("show", {
  summary: "show a key",
  description: "Show a key: its whole name, its permissions, who made it, and when it was last used. The secret cannot be shown.",
  arguments: [keyArgument()],
  options: { brand: brandCheckOption("key") },
  run: async (session, { brand }, keyId: string) => {
    const key = await findKey(session.client("accounts"), await brandOf(session, "key", keyId, brand), keyId);
    session.printFacts({ key }, keyFacts(key));
  },
});

export const keysCommand = group("keys", "create and revoke the API keys that read a brand's records", [create, list, show, revoke]);
