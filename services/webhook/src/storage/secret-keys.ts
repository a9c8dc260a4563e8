import { unnestRows, type BatchRow, type Sql, isFound, statementsOf } from "@brand-records/postgres";
import type { SealedSecret } from "../domain/signing-secret.ts";
import type { ClaimedDelivery } from "./claims.ts";

const PROOFS = unnestRows({ id: "int", proof: "bytea" }, { as: "k" });
type Proof = BatchRow<typeof PROOFS>;
const KEY_IDS = unnestRows({ id: "int" }, { as: "k" });

const statements = statementsOf("secret_keys", {
  /** Sorted by id, so that processes starting at the same time never deadlock. */
  add: `insert into webhook.secret_keys (${PROOFS.columns}) select * from ${PROOFS.relation} order by k.id
           on conflict (id) do nothing`,
  list: "select k.id, k.proof from webhook.secret_keys k",
  /** Reads every receiver: for the start only. */
  inUse: `select r.secret_key_id as id from webhook.receivers r
            union select r.next_secret_key_id from webhook.receivers r where r.next_secret_key_id is not null
            order by id`,
  inUseAmong: `select k.id from ${KEY_IDS.relation}
            where exists (select from webhook.receivers r where r.secret_key_id = k.id or r.next_secret_key_id = k.id)`,
  stored: `select r.id as receiver_id, r.secret, r.secret_key_id, r.next_secret, r.next_secret_key_id
             from webhook.receivers r where r.id = any($1::text[])`,
  underOthers: `select r.id, r.secret as sealed, r.secret_key_id as "keyId" from webhook.receivers r
            where r.secret_key_id <> $1 and r.id > $2 order by r.id limit 100`,
  /** Changes nothing if the secret was replaced since it was read. */
  replace: `update webhook.receivers set secret = $4::bytea, secret_key_id = $5::int
            where id = $1 and secret = $2::bytea and secret_key_id = $3 returning id`,
});

/** Adds proofs of new keys. Existing ones stay as they are. */
export const addProofs = (sql: Sql, proofs: readonly Proof[]): Promise<unknown> => sql.query(statements.add, PROOFS.values(proofs));

export function listProofs(sql: Sql): Promise<Proof[]> {
  return sql.query<Proof>(statements.list);
}

/** Returns the ids of the keys under which any receiver's secret or next secret is sealed. */
export async function idsInUse(sql: Sql): Promise<number[]> {
  return (await sql.query<{ id: number }>(statements.inUse)).map(({ id }) => id);
}

/** Returns those of these keys under which any receiver's secret or next secret is sealed. Reads every receiver if there is none. */
export async function idsInUseAmong(sql: Sql, keyIds: readonly number[]): Promise<number[]> {
  return (await sql.query<{ id: number }>(statements.inUseAmong, KEY_IDS.values(keyIds.map((id) => ({ id }))))).map(({ id }) => id);
}

export type StoredSecrets = Pick<ClaimedDelivery, "receiver_id" | "secret" | "secret_key_id" | "next_secret" | "next_secret_key_id">;

/** Returns the secrets of these receivers, without those that were deleted. */
export const storedSecretsOf = (sql: Sql, receiverIds: readonly string[]): Promise<StoredSecrets[]> =>
  sql.query<StoredSecrets>(statements.stored, [receiverIds]);

export interface StoredSecret extends SealedSecret {
  readonly id: string;
}

/** Returns up to 100 current secrets that are sealed under another key than `keyId`, of receivers after `afterId`, in the order of ids. */
export function secretsUnderOthers(sql: Sql, keyId: number, afterId: string): Promise<StoredSecret[]> {
  return sql.query<StoredSecret>(statements.underOthers, [keyId, afterId]);
}

/** @returns false, and changes nothing, if the receiver is gone or has another secret by now */
export const replaceSealed = (sql: Sql, { id, sealed, keyId }: StoredSecret, by: SealedSecret): Promise<boolean> =>
  isFound(sql.query(statements.replace, [id, sealed, keyId, by.sealed, by.keyId]));
