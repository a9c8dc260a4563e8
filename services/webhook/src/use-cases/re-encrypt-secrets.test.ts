import { openPool, type Database } from "@brand-records/postgres";
import { AnnouncedKeys } from "@brand-records/service-runtime";
import { openLog } from "@brand-records/telemetry";
import { eventually, type TestDatabase } from "@brand-records/testkit";
import { Brands, newBrand, secretKey, webhookDatabase } from "../../test/serve-receivers.ts";
import type { SecretKeys } from "../domain/secret-keys.ts";
import { openSigningSecret, type SealedSecret } from "../domain/signing-secret.ts";
import { createReceiver } from "./receivers.ts";
import { heldSecretKeys, reEncryptSecrets, requireSecretKeys } from "./secret-keys.ts";

const log = openLog("webhook", "silent");

let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  database = await webhookDatabase();
  db = openPool({ url: database.url, applicationName: "test" });
});
afterEach(async () => {
  await db.stop();
  await database.drop();
});

const [one, two] = [secretKey(1), secretKey(2)];

async function addReceiver(...keys: SecretKeys): Promise<void> {
  const parts = { db, keys, ports: new Set<number>(), brands: new Brands(db) };
  await createReceiver(parts, { brandId: newBrand(), url: "https://hooks.brand.example/", label: "x", events: ["payout.paid"] });
}

async function secretsUnder(...keys: SecretKeys): Promise<string[]> {
  const rows = await db.query<SealedSecret & { id: string }>(
    `select id, secret as sealed, secret_key_id as "keyId" from webhook.receivers order by id`,
  );
  return rows.map((row) => openSigningSecret(keys, row.id, row));
}

it("seals every current secret under the newest key, so that the older one can be removed", async () => {
  await requireSecretKeys(db, [one]);
  // More than one batch.
  for (let index = 0; index < 101; index++) await addReceiver(one);
  await requireSecretKeys(db, [two, one]);
  const before = await secretsUnder(one);
  expect(await reEncryptSecrets(db, [two, one])).toEqual({ secrets: 101, still_in_use: [] });
  expect(await secretsUnder(two)).toEqual(before);
  await requireSecretKeys(db, [two]);
  expect(await reEncryptSecrets(db, [two])).toEqual({ secrets: 0, still_in_use: [] });
});

it("stops before the next batch if a process starts that lacks the newest key, and goes on when that has ended", async () => {
  await requireSecretKeys(db, [one]);
  for (let index = 0; index < 101; index++) await addReceiver(one);
  let starting: Promise<AnnouncedKeys> | undefined;
  /** The process starts while the first batch is sealed: it is announced when that is committed, and before the next one. */
  const during: Database = {
    ...db,
    async transaction(work) {
      const result = await db.transaction(async (sql) => {
        const sealed = await work(sql);
        starting ??= AnnouncedKeys.start({ db, schema: "webhook", keys: heldSecretKeys([one]), log });
        await eventually(async () => {
          // Other tests' sessions wait for locks of their own databases.
          const waiting = `select from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`;
          expect(await db.query(waiting)).toHaveLength(1);
        });
        return sealed;
      });
      await starting;
      return result;
    },
  };
  await expect(reEncryptSecrets(during, [two, one])).rejects.toThrow("lacks key 2");
  const sealed = () => db.query("select from webhook.receivers where secret_key_id = 2");
  expect(await sealed()).toHaveLength(100);
  await (await starting)?.stop();
  expect(await reEncryptSecrets(db, [two, one])).toEqual({ secrets: 1, still_in_use: [] });
});

it("leaves a next secret and its acceptance as they are, and reports its key as still in use", async () => {
  await addReceiver(one);
  await db.query("update webhook.receivers set next_secret = secret, next_secret_key_id = 1");
  await db.query("update webhook.receivers set next_secret_accepted_at = now()");
  expect(await reEncryptSecrets(db, [two, one])).toEqual({ secrets: 1, still_in_use: [1] });
  expect(await db.query("select 1 from webhook.receivers where next_secret_accepted_at is not null")).toHaveLength(1);
});
