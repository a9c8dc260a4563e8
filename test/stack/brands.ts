import { newId } from "@brand-records/ids";
import { callContext, type StackClients } from "./clients.ts";

export interface TestBrand {
  readonly id: string;
  readonly owner: string;
  /** A live reporting key. */
  readonly key: string;
  readonly keyId: string;
}

export interface TestBrandOptions {
  /** Default: plus. */
  readonly tier?: string;
  /** Environment of the key. Default: live. */
  readonly environment?: string;
  /** Permissions of the key, besides reading. */
  readonly permissions?: string[];
}

/** Creates a verified brand with an owner and a key. */
export async function createBrand(
  { accounts }: StackClients,
  { tier = "plus", environment = "live", permissions = [] }: TestBrandOptions = {},
): Promise<TestBrand> {
  const id = newId("brd");
  const owner = `owner@${id.slice(4)}.example`;
  await accounts.createBrand({ id, name: `Brand ${id}`, tier, verified: true }, callContext());
  await accounts.addMember({ brand_id: id, email: owner, role: "owner" }, callContext());
  const created = await accounts.createKey({ brand_id: id, name: "Test", environment, permissions, created_by: owner }, callContext());
  return { id, owner, key: created.secret, keyId: created.key?.id ?? "" };
}
