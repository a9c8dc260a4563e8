import { AppError } from "@brand-records/errors";
import type { Key } from "@brand-records/proto/accounts/v1";
import { Argument } from "commander";
import type { AccountsClient } from "../connection/clients.ts";
import { membersOf } from "../connection/keys-and-members.ts";
import { CommandFailure, UsageFailure } from "../failure.ts";
import { requireId } from "../ids.ts";

export const keyArgument = (): Argument =>
  new Argument("<key>", "id of the key (key_…), not the key itself; see keys list").argParser(parseKeyId);

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
