import type { Sql, Statement } from "@brand-records/postgres";

const statements = {
  /** In the order of ids, so that processes starting at the same time never deadlock. */
  add: {
    name: "secret_keys.add",
    text: `insert into webhook.secret_keys (id, proof)
           select k.id, k.proof from unnest($1::int[], $2::bytea[]) as k (id, proof) order by k.id
           on conflict (id) do nothing`,
  },
  list: { name: "secret_keys.list", text: "select k.id, k.proof from webhook.secret_keys k" },
  /** Reads every receiver: for the start only. */
  inUse: {
    name: "secret_keys.in_use",
    text: `select r.secret_key_id as id from webhook.receivers r
            union select r.next_secret_key_id from webhook.receivers r where r.next_secret_key_id is not null
            order by id`,
  },
} satisfies Record<string, Statement>;

export interface Proof {
  readonly id: number;
  readonly proof: Buffer;
}

/** Adds proofs of new keys. Existing ones stay as they are. */
export async function addProofs(sql: Sql, proofs: readonly Proof[]): Promise<void> {
  await sql.query(statements.add, [proofs.map(({ id }) => id), proofs.map(({ proof }) => proof)]);
}

export function listProofs(sql: Sql): Promise<Proof[]> {
  return sql.query<Proof>(statements.list);
}

/** Returns the ids of the keys under which any receiver's secret or next secret is sealed. */
export async function idsInUse(sql: Sql): Promise<number[]> {
  return (await sql.query<{ id: number }>(statements.inUse)).map(({ id }) => id);
}
