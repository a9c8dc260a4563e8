import { ConfigError } from "@brand-records/config";
import { openPool, type Database } from "@brand-records/postgres";
import { AnnouncedKeys } from "@brand-records/service-runtime";
import { openLog } from "@brand-records/telemetry";
import { eventually, type TestDatabase } from "@brand-records/testkit";
import { Brands, newBrand, secretKey, webhookDatabase, recordNothing } from "../../test/serve-receivers.ts";
import type { SecretKeys } from "../domain/secret-keys.ts";
import type { Receiver } from "../domain/receiver.ts";
import { createReceiver } from "./receivers.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { heldSecretKeys, reEncryptSecrets, requireSecretKeys } from "./secret-keys.ts";

const [one, two, three] = [secretKey(1), secretKey(2), secretKey(3)];
const log = openLog("webhook", "silent");

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await webhookDatabase();
  db = openPool({ url: database.url, applicationName: "test" });
});
afterEach(async () => {
  for (const each of started.splice(0)) await each.stop();
  for (const table of ["lanes", "receivers", "brands", "secret_keys"]) await db.query(`delete from webhook.${table}`);
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});

const started: AnnouncedKeys[] = [];
async function announce(...keys: SecretKeys): Promise<AnnouncedKeys> {
  const announced = await AnnouncedKeys.start({ db, schema: "webhook", keys: heldSecretKeys(keys), log });
  started.push(announced);
  return announced;
}

async function addReceiver(...keys: SecretKeys): Promise<Receiver> {
  const parts = { db, keys, ports: new Set<number>(), brands: new Brands(db) };
  const input = { brandId: newBrand(), url: "https://hooks.brand.example/", label: "x", events: ["payout.paid"] };
  return (await createReceiver(parts, input, recordNothing)).receiver;
}

describe("at the start", () => {
  const knownIds = async (): Promise<number[]> =>
    (await db.query<{ id: number }>("select id from webhook.secret_keys order by id")).map(({ id }) => id);

  /** Returns the problems that `requireSecretKeys` reports. Checks that they do not contain a key. */
  async function problemsOf(...keys: SecretKeys): Promise<readonly string[]> {
    try {
      await requireSecretKeys(db, keys);
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      for (const { bytes } of keys) expect((error as ConfigError).message).not.toContain(bytes.toString("base64").slice(0, 8));
      return (error as ConfigError).problems;
    }
    return [];
  }

  it("accepts new keys, remembers them, and accepts them again", async () => {
    expect(await problemsOf(two, one)).toEqual([]);
    expect(await knownIds()).toEqual([1, 2]);
    expect(await problemsOf(two, one)).toEqual([]);
    expect(await problemsOf(three, two, one)).toEqual([]);
    expect(await knownIds()).toEqual([1, 2, 3]);
  });

  it("stores a proof that does not reveal the key", async () => {
    await requireSecretKeys(db, [one]);
    const [row] = await db.query<{ proof: Buffer }>("select proof from webhook.secret_keys");
    expect(row?.proof.includes(one.bytes)).toBe(false);
    expect(row?.proof.toString("latin1")).not.toContain("receiver");
  });

  it("refuses another key under a known id, and reports which key and the fix", async () => {
    await requireSecretKeys(db, [two, one]);
    expect(await problemsOf(two, secretKey(1))).toEqual([
      expect.stringMatching(/^RECEIVER_SECRET_KEYS: key 1 is not the key 1 .*put that one back/),
    ]);
  });

  it("refuses to start without the key of a receiver's secret, and reports which key and the fix", async () => {
    await requireSecretKeys(db, [one]);
    await addReceiver(one);
    await requireSecretKeys(db, [two, one]);
    await addReceiver(two, one);
    expect(await problemsOf(two)).toEqual([expect.stringMatching(/^RECEIVER_SECRET_KEYS: key 1 is missing, .*put 1:… back/)]);
    expect(await problemsOf(two, one)).toEqual([]);
  });

  it("refuses to start without the key of a receiver's next secret", async () => {
    await requireSecretKeys(db, [two, one]);
    await addReceiver(one);
    await db.query("update webhook.receivers set next_secret = secret, next_secret_key_id = 2");
    expect(await problemsOf(one)).toEqual([expect.stringContaining("key 2 is missing")]);
    expect(await problemsOf(two, one)).toEqual([]);
  });

  it("starts without a key that no receiver uses any more", async () => {
    await requireSecretKeys(db, [two, one]);
    await addReceiver(two, one);
    expect(await problemsOf(two)).toEqual([]);
  });

  it("reports every problem in one error, and then remembers none of the new keys", async () => {
    await requireSecretKeys(db, [two, one]);
    await addReceiver(one);
    expect(await problemsOf(three, secretKey(2))).toEqual([
      expect.stringContaining("key 1 is missing"),
      expect.stringContaining("key 2 is not the key 2"),
    ]);
    expect(await knownIds()).toEqual([1, 2]);
  });

  it("refuses a key whose stored proof was copied from another id", async () => {
    await requireSecretKeys(db, [two, one]);
    await db.query("update webhook.secret_keys a set proof = b.proof from webhook.secret_keys b where a.id = 1 and b.id = 2");
    expect(await problemsOf({ ...two, id: 1 })).toHaveLength(1);
  });

  it("accepts only one key if processes start concurrently with different keys under one id", async () => {
    const keys = Array.from({ length: 8 }, () => secretKey(1));
    const problems = await Promise.all(keys.map((key) => problemsOf(key)));
    expect(problems.filter((each) => each.length === 0)).toHaveLength(1);
    const same = await Promise.all(Array.from({ length: 8 }, () => problemsOf(three, two)));
    expect(same.flat()).toEqual([]);
  });
});

describe("the key of new secrets", () => {
  const keyIds = () => db.query("select secret_key_id as current, next_secret_key_id as next from webhook.receivers order by created_at");

  async function createAndRotate(...keys: SecretKeys): Promise<void> {
    const { brand_id, id } = await addReceiver(...keys);
    await rotateSecret({ db, keys }, { brandId: brand_id, receiverId: id }, recordNothing);
  }

  it("while a process lives that lacks the newest key, receivers' secrets and next secrets are sealed under the one before", async () => {
    await announce(two, one);
    const old = await announce(one);
    await createAndRotate(two, one);
    expect(await keyIds()).toEqual([{ current: 1, next: 1 }]);
    await old.stop();
    await createAndRotate(two, one);
    expect(await keyIds()).toEqual([
      { current: 1, next: 1 },
      { current: 2, next: 2 },
    ]);
  });

  it("nothing is stored while the processes have no key in common", async () => {
    await announce(one);
    await expect(createAndRotate(two)).rejects.toMatchObject({ kind: "unavailable" });
    expect(await keyIds()).toEqual([]);
  });
});

describe("re-encrypting secrets", () => {
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
});
