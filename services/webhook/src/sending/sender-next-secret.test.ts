import { createHmac } from "node:crypto";
import { eventually } from "@brand-records/testkit";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { startReceivingServer, type ReceivedRequest, type ReceivingServer } from "../../test/receiving-server.ts";
import { present, recordNothing } from "../../test/serve-receivers.ts";
import { serveSending, type MadeReceiver, type ServedSending } from "../../test/serve-sending.ts";
import { attemptsOf, findDelivery } from "../storage/deliveries.ts";
import { findReceiver } from "../storage/receivers.ts";
import { replayDelivery } from "../use-cases/replay-delivery.ts";
import { activateSecret, rotateSecret } from "../use-cases/rotate-secret.ts";
import { sendTest } from "../use-cases/send-test.ts";
import { updateReceiver } from "../use-cases/receivers.ts";
import { endExpiredLeases } from "./expired-leases.ts";
import type { Sender } from "./sender.ts";

/** Tests that are signed with the next secret alone, and what their results change. */

let sending: ServedSending;
let sender: Sender;
let server: ReceivingServer;
let receiver: MadeReceiver;
beforeAll(async () => {
  sending = await serveSending();
  sender = sending.start({ retryDelaysSeconds: [0.05, 0.05] });
});
beforeEach(async () => {
  server = await startReceivingServer();
  receiver = await sending.createReceiver(server.url);
});
afterEach(() => server.stop());
afterAll(() => sending.stop());

const keyOf = ({ brand, id }: MadeReceiver) => ({ brandId: brand, receiverId: id });
const rotate = async () => (await rotateSecret(sending, keyOf(receiver), recordNothing)).secret;
const testByNext = async () => (await sendTest(sending.db, keyOf(receiver), recordNothing, { next: true })).deliveryId;
const acceptedAt = async () => present(await findReceiver(sending.db, keyOf(receiver))).next_secret_accepted_at;
const delivery = async (deliveryId: string) => present(await findDelivery(sending.db, { brandId: receiver.brand, deliveryId }));
/** Wakes the sender for retries that are due, instead of waiting for its next poll. */
const sentUntil = (check: () => unknown) =>
  eventually(async () => {
    sender.wake();
    await check();
  });
const finished = (deliveryId: string, state: "delivered" | "failed") =>
  sentUntil(async () => expect(await delivery(deliveryId)).toMatchObject({ state, sign_with_next: true }));

/** Returns whether a secret verifies X-Service-Signature, and webhook-signature. */
function verifies(secret: string, { headers, rawBody }: ReceivedRequest): [own: boolean, standard: boolean] {
  const signed = createHmac("sha256", secret)
    .update(`${String(headers["x-service-timestamp"])}.`)
    .update(rawBody);
  const own = headers["x-service-signature"] === `sha256=${signed.digest("hex")}`;
  try {
    new StandardWebhook(secret).verify(rawBody.toString(), headers as Record<string, string>);
    return [own, true];
  } catch {
    return [own, false];
  }
}

it("signs every attempt and the replay with the next secret alone, in both signatures, and records when it is accepted", async () => {
  const next = await rotate();
  server.respond = (response) => response.writeHead(server.requests.length === 1 ? 401 : 204).end();
  const id = await testByNext();
  await finished(id, "delivered");
  expect(await acceptedAt()).toEqual(expect.any(String));
  await replayDelivery(sending.db, { brandId: receiver.brand, deliveryId: id }, recordNothing);
  await sentUntil(() => expect(server.requests).toHaveLength(3));
  for (const request of server.requests) {
    expect(verifies(next, request)).toEqual([true, true]);
    expect(verifies(receiver.secret, request)).toEqual([false, false]);
    expect(request.body["test"]).toBe(true);
  }
});

it("records nothing while attempts are refused", async () => {
  await rotate();
  server.respond = (response) => response.writeHead(401).end();
  await finished(await testByNext(), "failed");
  expect(server.requests).toHaveLength(3);
  expect(await acceptedAt()).toBeNull();
});

it("records nothing for events and other tests, which the active secret signs too", async () => {
  const next = await rotate();
  await sending.deliver([receiver]);
  const { deliveryId } = await sendTest(sending.db, keyOf(receiver), recordNothing);
  await sentUntil(async () => expect(await delivery(deliveryId)).toMatchObject({ state: "delivered", sign_with_next: false }));
  await sentUntil(() => expect(server.requests).toHaveLength(2));
  for (const request of server.requests) {
    expect(verifies(receiver.secret, request)).toEqual([true, true]);
    expect(verifies(next, request)).toEqual([false, true]);
  }
  expect(await acceptedAt()).toBeNull();
});

describe("the result of a test in flight", () => {
  /** Does this during the attempt, which is then accepted. Returns the delivery. */
  async function during(change: (deliveryId: string) => Promise<unknown>): Promise<string> {
    const responses: (() => void)[] = [];
    server.respond = (response) => void responses.push(() => response.writeHead(204).end());
    const id = await testByNext();
    await sentUntil(() => expect(responses).toHaveLength(1));
    server.respond = (response) => response.writeHead(401).end();
    await change(id);
    present(responses[0])();
    return id;
  }

  it.each<[string, () => Promise<unknown>]>([
    ["the next secret was replaced", rotate],
    [
      "the receiver's URL was changed",
      () => updateReceiver(sending.db, { ...keyOf(receiver), ...UNCHANGED, url: `${server.url}/moved` }, recordNothing),
    ],
    [
      "the next secret was activated and another made",
      async () => {
        await activateSecret(sending.db, keyOf(receiver), recordNothing, { force: true });
        await rotate();
      },
    ],
  ])("confirms nothing if meanwhile %s", async (_, change) => {
    await rotate();
    await finished(await during(change), "delivered");
    expect(await acceptedAt()).toBeNull();
  });

  it("confirms nothing after its lease ended: the next attempt decides", async () => {
    await rotate();
    const id = await during(async (deliveryId) => {
      await sending.db.query("update webhook.deliveries set lease_until = now() - interval '1 second' where id = $1", [deliveryId]);
      await endExpiredLeases(sending.db, { leaseSeconds: 30, attemptsMax: 3 });
    });
    await finished(id, "failed");
    expect(await acceptedAt()).toBeNull();
  });
});

it("is not sent once its secret was activated: the delivery fails and says why", async () => {
  await rotate();
  await sending.db.query("update webhook.lanes set held = true where receiver_id = $1", [receiver.id]);
  const id = await testByNext();
  await activateSecret(sending.db, keyOf(receiver), recordNothing, { force: true });
  await sending.db.query("update webhook.lanes set held = false where receiver_id = $1", [receiver.id]);
  await finished(id, "failed");
  expect(await attemptsOf(sending.db, id)).toMatchObject([
    { outcome: "unsendable", error: "there is no next secret any more to sign it with" },
  ]);
  expect(server.requests).toEqual([]);
});

const UNCHANGED = { label: undefined, events: undefined, maxInFlight: undefined };
