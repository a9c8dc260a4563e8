import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { openPool, type Database } from "@brand-records/postgres";
import { AnnouncedKeys } from "@brand-records/service-runtime";
import { openLog } from "@brand-records/telemetry";
import type { TestDatabase } from "@brand-records/testkit";
import { Brands, newBrand, webhookDatabase, recordNothing } from "../test/serve-receivers.ts";
import type { SecretKeys } from "./domain/secret-keys.ts";
import { openSigningSecret, type SealedSecret } from "./domain/signing-secret.ts";
import { createReceiver } from "./use-cases/receivers.ts";
import { heldSecretKeys } from "./use-cases/secret-keys.ts";

/** The program `re-encrypt.js` as operators run it: exit codes, and what it prints. */

const PROGRAM = join(import.meta.dirname, "../dist/re-encrypt.js");
const [one, two] = [1, 2].map((id) => ({ id, bytes: randomBytes(32) })) as [SecretKeys[0], SecretKeys[0]];

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await webhookDatabase();
  db = openPool({ url: database.url, applicationName: "test" });
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});

interface Exit {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const run = (env: Record<string, string>): Promise<Exit> =>
  new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM], { env: { PATH: process.env["PATH"], ...env } }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });

const settings = (...keys: SecretKeys): Record<string, string> => ({
  ACCOUNTS_ADDRESS: "localhost:7000",
  DATABASE_URL: database.url,
  RECEIVER_SECRET_KEYS: keys.map(({ id, bytes }) => `${id}:${bytes.toString("base64")}`).join(","),
});

it("exits with 78 and names each setting that it lacks", async () => {
  const { code, stdout, stderr } = await run({});
  expect({ code, stdout }).toEqual({ code: 78, stdout: "" });
  expect(stderr).toMatch(/^Invalid settings:\n {2}DATABASE_URL: is not set\n/);
  expect(stderr).toContain("\n  RECEIVER_SECRET_KEYS: is not set. ");
});

it("re-encrypts secrets under the newest key, prints how many, and changes nothing the second time; without a key in use it exits with 78", async () => {
  const parts = { db, keys: [one] as const, ports: new Set<number>(), brands: new Brands(db) };
  const input = {
    brandId: newBrand(),
    url: "https://hooks.brand.example/",
    label: "x",
    events: ["payout.paid"],
  };
  const created = await createReceiver(parts, input, recordNothing);

  const refused = await run(settings(two));
  expect(refused).toMatchObject({ code: 78, stdout: "" });
  expect(refused.stderr).toMatch(/^Invalid settings:\n {2}RECEIVER_SECRET_KEYS: key 1 is missing, .*put 1:… back/);

  for (const secrets of [1, 0]) {
    const { code, stdout, stderr } = await run(settings(two, one));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as object),
    ).toEqual([expect.objectContaining({ service: "re-encrypt webhook", secrets, still_in_use: [], msg: "secrets re-encrypted" })]);
  }
  const [stored] = await db.query<SealedSecret>(`select secret as sealed, secret_key_id as "keyId" from webhook.receivers`);
  expect(stored?.keyId).toBe(2);
  expect(openSigningSecret([two], created.receiver.id, stored as SealedSecret)).toBe(created.secret);
  expect(await run(settings(two))).toMatchObject({ code: 0 });
});

it("seals nothing while a living process lacks the key: it exits with 78 and names the process, until that has ended", async () => {
  const parts = { db, keys: [two] as const, ports: new Set<number>(), brands: new Brands(db) };
  const input = { brandId: newBrand(), url: "https://hooks.brand.example/", label: "x", events: ["payout.paid"] };
  await createReceiver(parts, input, recordNothing);
  const three = { id: 3, bytes: randomBytes(32) };
  const holding = { db, schema: "webhook", log: openLog("webhook", "silent") };
  const replacement = await AnnouncedKeys.start({ ...holding, keys: heldSecretKeys([three, two]) });
  const old = await AnnouncedKeys.start({ ...holding, keys: heldSecretKeys([two]) });
  // Another key under the same id is another key.
  const wrong = await AnnouncedKeys.start({ ...holding, keys: heldSecretKeys([{ ...three, bytes: randomBytes(32) }, two]) });

  const refused = await run(settings(three, two));
  expect(refused).toMatchObject({ code: 78, stdout: "" });
  expect(
    refused.stderr.match(/ {2}RECEIVER_SECRET_KEYS: .+ \(process \d+\) lacks key 3; .*wait until it has ended, and run this again/g),
  ).toHaveLength(2);
  expect(await db.query("select secret_key_id from webhook.receivers where secret_key_id = 3")).toEqual([]);

  await old.stop();
  await wrong.stop();
  await db.query("insert into webhook.living_processes values ('killed', 'killed', '[]', clock_timestamp() - interval '31 s')");
  expect(await run(settings(three, two))).toMatchObject({ code: 0 });
  await replacement.stop();
});

it("exits with 1 and logs the cause if the database is away", async () => {
  const { code, stdout } = await run({ ...settings(two), DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" });
  expect(code).toBe(1);
  expect(stdout).toContain("could not re-encrypt");
});
