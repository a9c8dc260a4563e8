import type { Key } from "@brand-records/proto/accounts/v1";
import { Argument } from "commander";
import { printable } from "@brand-records/command-line";
import { AppError } from "@brand-records/errors";
import { brandOf } from "../brand-lookup.ts";
import { CommandFailure, required, UsageFailure } from "../failure.ts";
import { keyFacts, LAST_USE_LAGS, useText } from "../output/key-text.ts";
import { command, type Session } from "../session.ts";
import { brandCheckOption, textOption, yesOption } from "./options.ts";
import type { AccountsClient } from "../connection/clients.ts";
import { requireId } from "../ids.ts";
import { membersOf } from "../connection/read-pages.ts";

/** After this time without a use, nothing is likely to depend on a key. */
const RECENT_USE_MS = 7 * 86_400_000;

export const keyArgument = (): Argument =>
  new Argument("<key>", "id of the key (key_…), not the key itself; see keys list").argParser(parseKeyId);

export const revoke = command("revoke", {
  summary: "revoke a key permanently",
  description:
    "Revoke a key. Final: from its next request on it is refused. On a terminal it asks first; in a script and with --json it does not. It warns if the key was used in the last seven days.",
  arguments: [keyArgument()],
  options: {
    yes: yesOption("revoke without asking"),
    by: textOption("--by <email>", "the owner who revokes it (default: the first owner of the key's brand)"),
    brand: brandCheckOption("key"),
  },
  examples: [["brandctl keys revoke key_01h455vb4pex5vsknk084sn02q", "after a leak, or once its replacement works"]],
  run: async (session, { by, brand, yes }, keyId: string) => {
    const brandId = await brandOf(session, "key", keyId, brand);
    const accounts = session.client("accounts");
    const before = await findKey(accounts, brandId, keyId);
    const isRevoked = before.revoked_at != null;
    if (!isRevoked) {
      const now = Date.now();
      noteUse(session, before, now);
      if (yes !== true && session.canAsk) await session.confirm(questionOf(before, now), "Nothing was revoked.");
    }
    const revoked_by = by ?? (await firstOwner(accounts, brandId));
    const response = await accounts.revokeKey({ key_id: keyId, revoked_by, brand_id: brandId });
    session.printFacts(response, keyFacts(required(response.key, "key")));
    session.noteAcceptedUntil(response.may_be_accepted_until);
    if (isRevoked) session.note(({ dim }) => dim("The key was revoked already: nothing changed."));
  },
});

/** Whether something may still depend on the key. */
const isInUse = ({ last_used_at }: Key, nowMs: number): boolean =>
  last_used_at != null && nowMs - Date.parse(last_used_at) <= RECENT_USE_MS;

function noteUse(session: Session, key: Key, nowMs: number): void {
  session.note(({ yellow, dim }) => {
    if (!isInUse(key, nowMs)) return dim(LAST_USE_LAGS);
    const warning = `This key was ${useText(key, nowMs)}. What uses it is refused from its next request on.`;
    return `${yellow(warning)} ${dim(LAST_USE_LAGS)}`;
  });
}

function questionOf(key: Key, nowMs: number): string {
  const use = isInUse(key, nowMs) ? "" : `, ${useText(key, nowMs)}`;
  return printable(`Permanently revoke ${key.id}, "${key.name}" (${key.hint})${use}?`);
}

/** @throws AppError `not_found` */
export async function findKey(accounts: AccountsClient, brandId: string, keyId: string): Promise<Key> {
  const { keys } = await accounts.listKeys({ brand_id: brandId, ids: [keyId] });
  const [key] = keys;
  if (key === undefined) throw new AppError("not_found", "There is no key with this id", { field: "key_id" });
  return key;
}

const LEAKED = "brandctl keys list --brand BRAND shows the ids. This key is now in your shell's history: revoke it and make another.";

/** @throws UsageFailure for anything but the id of a key */
function parseKeyId(text: string): string {
  if (text.startsWith("brk_")) throw new UsageFailure("This is the key itself; its id is needed (key_…).", LEAKED);
  return requireId("The id of a key", "key", text);
}

/** @throws CommandFailure when the brand has no owner */
export async function firstOwner(accounts: AccountsClient, brandId: string): Promise<string> {
  const members = await membersOf(accounts, brandId);
  const owner = members.find(({ role }) => role === "owner");
  if (owner !== undefined) return owner.email;
  throw new CommandFailure("owner_required", "The brand has no owner, and keys are made and revoked by owners.", {
    hint: `brandctl members add EMAIL --brand ${brandId} --role owner`,
  });
}
