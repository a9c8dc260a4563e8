import { newId } from "@brand-records/ids";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
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
async function createBrand(
  clients: StackClients,
  { tier = "plus", environment = "live", permissions = [] }: TestBrandOptions = {},
): Promise<TestBrand> {
  const { accounts } = clients;
  const id = newId("brd");
  const owner = `owner@${id.slice(4)}.example`;
  await accounts.createBrand({ id, name: `Brand ${id}`, tier, verified: true }, callContext());
  await accounts.addMember({ brand_id: id, email: owner, role: "owner" }, callContext());
  const key = await createKey(clients, { id, owner }, { environment, permissions });
  return { id, owner, key: key.secret, keyId: key.id };
}

/** A key or a receiver. */
export interface Secret {
  readonly id: string;
  readonly secret: string;
}

export interface TestKeyOptions extends Omit<TestBrandOptions, "tier"> {
  readonly name?: string;
}

async function createKey(
  { accounts }: StackClients,
  { id, owner }: Pick<TestBrand, "id" | "owner">,
  { name = "Test", environment = "live", permissions = [] }: TestKeyOptions = {},
): Promise<Secret> {
  const { key, secret } = await accounts.createKey({ brand_id: id, name, environment, permissions, created_by: owner }, callContext());
  return { id: key?.id ?? "", secret };
}

/** Registers a receiver. @param events Default: all */
async function addReceiver(
  { receivers }: StackClients,
  { id }: Pick<TestBrand, "id">,
  url: string,
  events: readonly string[] = EVENT_TYPE_NAMES,
  label = "Test",
): Promise<Secret> {
  const { receiver, secret } = await receivers.createReceiver({ brand_id: id, url, label, events: [...events] }, callContext());
  return { id: receiver?.id ?? "", secret };
}

/** Signs a person in with a link of the operator. @returns the session's token */
async function newSession({ signIn }: StackClients, email: string): Promise<string> {
  const { token } = await signIn.createSignInLink({ email, ttl_seconds: 0 }, callContext());
  return (await signIn.redeemSignInLink({ token }, callContext())).session?.token ?? "";
}

/** Says in which cell the brand's records are from now on, as a move does at its end. */
async function setCell({ operator }: StackClients, { id: brand_id }: Pick<TestBrand, "id">, cell: string | null): Promise<void> {
  const { move } = await operator.beginBrandMove({ brand_id, cell }, callContext());
  const ours = { brand_id, started_at: move?.started_at ?? "" };
  await operator.switchBrandMove(ours, callContext());
  await operator.endBrandMove({ ...ours, abort: false }, callContext());
}

/** What a stack makes for its tests. */
export interface TestMakers {
  createBrand(options?: TestBrandOptions): Promise<TestBrand>;
  createKey(brand: Pick<TestBrand, "id" | "owner">, options?: TestKeyOptions): Promise<Secret>;
  addReceiver(brand: Pick<TestBrand, "id">, url: string, events?: readonly string[], label?: string): Promise<Secret>;
  newSession(email: string): Promise<string>;
  setCell(brand: Pick<TestBrand, "id">, cell: string | null): Promise<void>;
}

export const makersOf = (clients: StackClients): TestMakers => ({
  createBrand: (options) => createBrand(clients, options),
  createKey: (brand, options) => createKey(clients, brand, options),
  addReceiver: (...receiver) => addReceiver(clients, ...receiver),
  newSession: (email) => newSession(clients, email),
  setCell: (brand, cell) => setCell(clients, brand, cell),
});
