import { openPool, type Database } from "@brand-records/postgres";
import { AnnouncedKeys } from "@brand-records/service-runtime";
import { openLog } from "@brand-records/telemetry";
import type { TestDatabase } from "@brand-records/testkit";
import { Brands, newBrand, secretKey, webhookDatabase } from "../../test/serve-receivers.ts";
import type { SecretKeys } from "../domain/secret-keys.ts";
import { createReceiver } from "./receivers.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { heldSecretKeys } from "./secret-keys.ts";

/** New secrets are sealed under a key that every living process has, so that each can sign. */

const [one, two] = [secretKey(1), secretKey(2)];
const log = openLog("webhook", "silent");

let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  database = await webhookDatabase();
  db = openPool({ url: database.url, applicationName: "test" });
});
afterEach(async () => {
  for (const each of started.splice(0)) await each.stop();
  await db.stop();
  await database.drop();
});

const started: AnnouncedKeys[] = [];
async function announce(...keys: SecretKeys): Promise<AnnouncedKeys> {
  const announced = await AnnouncedKeys.start({ db, schema: "webhook", keys: heldSecretKeys(keys), log });
  started.push(announced);
  return announced;
}

const keyIds = () => db.query("select secret_key_id as current, next_secret_key_id as next from webhook.receivers order by created_at");

async function createAndRotate(...keys: SecretKeys): Promise<void> {
  const brandId = newBrand();
  const parts = { db, keys, ports: new Set<number>(), brands: new Brands(db) };
  const { receiver } = await createReceiver(parts, { brandId, url: "https://hooks.brand.example/", label: "x", events: ["payout.paid"] });
  await rotateSecret(db, keys, { brandId, receiverId: receiver.id });
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
