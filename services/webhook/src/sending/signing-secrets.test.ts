import { randomBytes } from "node:crypto";
import type { Database } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { intercepted } from "../../test/intercepted.ts";
import { startReceivingServer, type ReceivingServer } from "../../test/receiving-server.ts";
import { useSending, type MadeReceiver } from "../../test/serve-sending.ts";
import { SealBroken, type SecretKey } from "../domain/secret-keys.ts";
import type { SigningKey } from "../domain/signature.ts";
import { newSigningSecret, sealSigningSecret } from "../domain/signing-secret.ts";
import { SigningKeys } from "./signing-secrets.ts";

/** A delivery whose signing secret does not open in this process waits for one that can, and costs it nothing. */

const newKey: SecretKey = { id: 2, bytes: randomBytes(32) };

let server: ReceivingServer;
const lines: { readonly fields: object; readonly message: string }[] = [];
const append = (fields: object, message: string): void => void lines.push({ fields, message });
const log = { info: append, warn: append, error: append } as unknown as Logger;
const sending = useSending(log);
beforeEach(async () => {
  lines.length = 0;
  server = await startReceivingServer();
});
afterEach(() => server.stop());

const oldKey = (): SecretKey => sending.keys[0];

/** Seals a receiver's secret, or its next one, under a key: as a process that has the key does. */
async function sealUnder(key: SecretKey, { id, secret }: MadeReceiver, column: "secret" | "next_secret" = "secret"): Promise<void> {
  const { sealed, keyId } = sealSigningSecret(key, id, secret);
  await sending.db.query(`update webhook.receivers set ${column} = $2, ${column}_key_id = $3 where id = $1`, [id, sealed, keyId]);
}

const damage = ({ id }: MadeReceiver) =>
  sending.db.query(String.raw`update webhook.receivers set secret = '\x00' || secret where id = $1`, [id]);

/** What the failed deliveries of earlier releases left behind: an attempt, a failure, a count. */
async function tracesOf({ id }: MadeReceiver): Promise<object[]> {
  return sending.db.query(
    `select d.state, d.attempt, d.lease, l.failures, l.failed_in_a_row, l.last_outcome, l.in_flight, r.enabled,
            (select count(*) from webhook.attempts) as attempts, (select count(*) from webhook.past_deliveries) as past
       from webhook.deliveries d join webhook.lanes l using (receiver_id) join webhook.receivers r on r.id = l.receiver_id where r.id = $1`,
    [id],
  );
}
const UNTOUCHED = {
  state: "pending",
  attempt: 0,
  lease: null,
  failures: 0,
  failed_in_a_row: 0,
  last_outcome: null,
  in_flight: 0,
  enabled: true,
  attempts: 0,
  past: 0,
};

const attempts = (): unknown[] => lines.filter(({ message }) => message === "delivery attempted");

/** Counts executions of statements by their names. */
function counting(): { readonly db: Database; count(name: string): number } {
  const names: string[] = [];
  return { db: intercepted(sending.db, ({ name }) => names.push(name)), count: (name) => names.filter((each) => each === name).length };
}
const CLAIM = "claims.claim";
const RECHECK = "secret_keys.in_use_among";

it.each<[string, (receiver: MadeReceiver) => Promise<unknown>, number]>([
  ["is sealed under a key that this process lacks", (receiver) => sealUnder(newKey, receiver), 2],
  ["does not open, though its key is configured", damage, 1],
  ["is accompanied by a next secret under a key that this process lacks", (receiver) => sealUnder(newKey, receiver, "next_secret"), 2],
])("a delivery whose secret %s stays pending without an attempt, and the process names the key", async (_, spoil, keyId) => {
  const receiver = await sending.createReceiver(server.url);
  await spoil(receiver);
  await sending.deliver([receiver], 20);
  const counted = counting();
  const sender = sending.start({ db: counted.db, recheckMs: 20 });
  await eventually(() => expect(sender.unusableKeyIds()).toEqual([keyId]));
  const claims = counted.count(CLAIM);
  // It has looked at the lanes several times since.
  await eventually(() => expect(counted.count(RECHECK)).toBeGreaterThan(5));
  await eventually(async () => expect(await tracesOf(receiver)).toEqual(Array.from({ length: 20 }, () => UNTOUCHED)));
  expect(counted.count(CLAIM)).toBeLessThanOrEqual(claims + 1);
  expect(server.requests).toEqual([]);
  const errors = lines.filter(({ message }) => message.startsWith("signing secrets cannot be opened"));
  expect(errors).toEqual([
    expect.objectContaining({ fields: expect.objectContaining({ key_id: keyId, receiver_id: receiver.id }) as object }),
  ]);
});

it("another process that has the key sends it, first attempt and all", async () => {
  const receiver = await sending.createReceiver(server.url);
  await sealUnder(newKey, receiver);
  const old = sending.start();
  await sending.deliver([receiver]);
  await eventually(() => expect(old.unusableKeyIds()).toEqual([2]));
  sending.start({ keys: [newKey, oldKey()] });
  await eventually(() => expect(server.requests).toHaveLength(1));
  expect(server.requests[0]?.headers).toMatchObject({ "x-service-attempt": "1" });
  await eventually(async () => expect(await sending.attemptsOf(receiver)).toMatchObject([{ attempt: 1, outcome: "accepted" }]));
});

it.each<[string, (receiver: MadeReceiver) => Promise<unknown>, number]>([
  ["it is sealed under a key that this process has, which sends its delivery", (receiver) => sealUnder(oldKey(), receiver), 2],
  ["its receiver is deleted", ({ id }) => sending.db.query("delete from webhook.receivers where id = $1", [id]), 0],
])("the process recovers when no secret is left that it cannot open: %s", async (_, change, sent) => {
  const [missing, damaged] = [await sending.createReceiver(`${server.url}/1`), await sending.createReceiver(`${server.url}/2`)];
  await sealUnder(newKey, missing);
  await damage(damaged);
  await sending.deliver([missing]);
  await sending.deliver([damaged]);
  const sender = sending.start({ recheckMs: 20 });
  await eventually(() => expect(sender.unusableKeyIds()).toEqual([1, 2]));
  await change(missing);
  await eventually(() => expect(sender.unusableKeyIds()).toEqual([1]));
  await change(damaged);
  await eventually(() => expect(sender.unusableKeyIds()).toEqual([]));
  const opened = lines.filter(({ message }) => message === "signing secrets can be opened again").map(({ fields }) => fields);
  expect(opened).toEqual([{ key_id: 2 }, { key_id: 1 }]);
  await eventually(() => expect(server.requests).toHaveLength(sent));
});

it("what a recheck has read half changes nothing yet, so that each key is logged as its secrets open", async () => {
  const [missing, damaged] = [await sending.createReceiver(server.url), await sending.createReceiver(server.url)];
  await sealUnder(newKey, missing);
  await damage(damaged);
  await sending.deliver([missing]);
  await sending.deliver([damaged]);
  let [isOpen, rechecks] = [true, 0];
  let release = (): void => {};
  const db = intercepted(sending.db, ({ name }) => {
    if (isOpen || name !== "secret_keys.stored") return undefined;
    rechecks += 1;
    return new Promise<void>((resolve) => void (release = resolve));
  });
  const sender = sending.start({ db, recheckMs: 20 });
  await eventually(() => expect(sender.unusableKeyIds()).toEqual([1, 2]));
  isOpen = false;
  await eventually(() => expect(rechecks).toBe(1));
  await sealUnder(oldKey(), missing);
  release();
  await eventually(() => expect(rechecks).toBe(2));
  expect(sender.unusableKeyIds()).toEqual([1, 2]);
  isOpen = true;
  release();
  await eventually(() => expect(sender.unusableKeyIds()).toEqual([1]));
});

it.each<[string, (receiver: MadeReceiver) => Promise<unknown>, number]>([
  ["under a missing key", (receiver) => sealUnder(newKey, receiver), 2],
  // One claim takes 16 lanes.
  ["that are damaged", damage, 8],
])("a hundred receivers with secrets %s delay no other: each is claimed once at most", async (_, spoil, claimsMax) => {
  const brand = newId("brd");
  const spoiled = await Promise.all(Array.from({ length: 100 }, (__, n) => sending.createReceiver(`${server.url}/${n}`, { brand })));
  for (const receiver of spoiled) await spoil(receiver);
  await sending.deliver(spoiled);
  // Served last: lanes are served in the order of their last service.
  const healthy = await sending.createReceiver(`${server.url}/healthy`);
  await sending.db.query("update webhook.lanes set last_served = now() + interval '1 hour' where receiver_id = $1", [healthy.id]);
  await sending.deliver([healthy]);
  const counted = counting();
  sending.start({ db: counted.db });
  await eventually(() => expect(server.requests).toHaveLength(1));
  expect(server.requests[0]?.path).toBe("/hook/healthy");
  expect(counted.count(CLAIM)).toBeLessThanOrEqual(claimsMax);
  await eventually(() => expect(attempts()).toHaveLength(1));
});

it("claims that could not be returned are returned later: no attempt is used up", async () => {
  const receiver = await sending.createReceiver(server.url);
  await sealUnder(newKey, receiver);
  await sending.deliver([receiver]);
  let failures = 0;
  const db = intercepted(sending.db, ({ text }) => {
    if (!text.includes("attempt = d.attempt - 1") || failures > 0) return;
    failures += 1;
    throw new Error("the connection was lost");
  });
  sending.start({ db });
  await eventually(async () => {
    expect(failures).toBe(1);
    expect(await tracesOf(receiver)).toEqual([UNTOUCHED]);
  });
});

describe("kept keys", () => {
  const one: SecretKey = { id: 1, bytes: randomBytes(32) };
  const two: SecretKey = { id: 2, bytes: randomBytes(32) };
  const keys = new SigningKeys([two, one]);
  const ownOf = ({ own }: SigningKey): string => own.export().toString();

  it("opens a secret once for as long as the same bytes are stored", () => {
    const secret = newSigningSecret();
    const sealed = sealSigningSecret(one, "rcv_1", secret);
    const opened = keys.open("rcv_1", sealed);
    expect(ownOf(opened)).toBe(secret);
    expect(opened.standard.export()).toEqual(Buffer.from(secret.slice("whsec_".length), "base64"));
    expect(keys.open("rcv_1", { ...sealed, sealed: Buffer.from(sealed.sealed) })).toBe(opened);
  });

  it("opens the new secret after a rotation, and the same one after it was sealed again under another key", () => {
    const [before, after] = [newSigningSecret(), newSigningSecret()];
    expect(ownOf(keys.open("rcv_1", sealSigningSecret(one, "rcv_1", before)))).toBe(before);
    expect(ownOf(keys.open("rcv_1", sealSigningSecret(one, "rcv_1", after)))).toBe(after);
    expect(ownOf(keys.open("rcv_1", sealSigningSecret(two, "rcv_1", after)))).toBe(after);
  });

  it("opens nothing that was sealed for another receiver or under another key, though it has opened it before", () => {
    const sealed = sealSigningSecret(one, "rcv_1", newSigningSecret());
    keys.open("rcv_1", sealed);
    expect(() => keys.open("rcv_2", sealed)).toThrow(SealBroken);
    expect(() => keys.open("rcv_1", { ...sealed, keyId: 2 })).toThrow(SealBroken);
    expect(() => keys.open("rcv_1", { ...sealed, keyId: 3 })).toThrow(SealBroken);
  });

  it("keeps 4,000", () => {
    const first = sealSigningSecret(one, "rcv_1", newSigningSecret());
    const opened = keys.open("rcv_1", first);
    for (let index = 0; index < 4_000; index += 1) keys.open("rcv_2", sealSigningSecret(one, "rcv_2", newSigningSecret()));
    expect(keys.open("rcv_1", first)).not.toBe(opened);
  });
});
