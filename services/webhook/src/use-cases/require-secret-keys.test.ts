import { ConfigError } from "@brand-records/config";
import { openPool, type Database } from "@brand-records/postgres";
import type { TestDatabase } from "@brand-records/testkit";
import { Brands, newBrand, secretKey, webhookDatabase } from "../../test/serve-receivers.ts";
import { createReceiver } from "./receivers.ts";
import { requireSecretKeys } from "./secret-keys.ts";
import type { SecretKeys } from "../domain/secret-keys.ts";

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

const [one, two, three] = [secretKey(1), secretKey(2), secretKey(3)];
const knownIds = async (): Promise<number[]> =>
  (await db.query<{ id: number }>("select id from webhook.secret_keys order by id")).map(({ id }) => id);

async function addReceiverUnder(...keys: SecretKeys): Promise<void> {
  const parts = { db, keys, ports: new Set<number>(), brands: new Brands(db) };
  await createReceiver(parts, { brandId: newBrand(), url: "https://hooks.brand.example/", label: "x", events: ["payout.paid"] });
}

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
  await addReceiverUnder(one);
  await requireSecretKeys(db, [two, one]);
  await addReceiverUnder(two, one);
  expect(await problemsOf(two)).toEqual([expect.stringMatching(/^RECEIVER_SECRET_KEYS: key 1 is missing, .*put 1:… back/)]);
  expect(await problemsOf(two, one)).toEqual([]);
});

it("refuses to start without the key of a receiver's next secret", async () => {
  await requireSecretKeys(db, [two, one]);
  await addReceiverUnder(one);
  await db.query("update webhook.receivers set next_secret = secret, next_secret_key_id = 2");
  expect(await problemsOf(one)).toEqual([expect.stringContaining("key 2 is missing")]);
  expect(await problemsOf(two, one)).toEqual([]);
});

it("starts without a key that no receiver uses any more", async () => {
  await requireSecretKeys(db, [two, one]);
  await addReceiverUnder(two, one);
  expect(await problemsOf(two)).toEqual([]);
});

it("reports every problem in one error, and then remembers none of the new keys", async () => {
  await requireSecretKeys(db, [two, one]);
  await addReceiverUnder(one);
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
