import type { Sql, Statement } from "@brand-records/postgres";
import type { ReceiverKey } from "../domain/receiver.ts";
import type { SealedSecret } from "../domain/signing-secret.ts";

const statements = {
  setNext: {
    name: "rotation.set_next",
    text: `update webhook.receivers r
              set next_secret = $3::bytea, next_secret_key_id = $4::int, updated_at = clock_timestamp()
            where r.brand_id = $1 and r.id = $2 returning r.id`,
  },
  activate: {
    name: "rotation.activate",
    text: `update webhook.receivers r
              set secret = r.next_secret, secret_key_id = r.next_secret_key_id, next_secret = null, next_secret_key_id = null,
                  updated_at = clock_timestamp()
            where r.brand_id = $1 and r.id = $2 and r.next_secret is not null returning r.id`,
  },
} satisfies Record<string, Statement>;

/** In place of the next one there may be. Answers false if the brand has no such receiver. */
export async function setNextSecret(sql: Sql, { brandId, receiverId }: ReceiverKey, { sealed, keyId }: SealedSecret): Promise<boolean> {
  return (await sql.query(statements.setNext, [brandId, receiverId, sealed, keyId])).length > 0;
}

/** The next secret is the one in force, in one step. Answers false if there is none, or no such receiver. */
export async function activateNextSecret(sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<boolean> {
  return (await sql.query(statements.activate, [brandId, receiverId])).length > 0;
}
