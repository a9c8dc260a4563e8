import { readFileSync } from "node:fs";
import { join } from "node:path";
import { METHODS } from "@brand-records/proto/methods";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { addDelivery } from "../../test/add-delivery.ts";
import { keyOf, newBrand, present, receiverInput, serveReceivers, useReceivers } from "../../test/serve-receivers.ts";

const OWNER = "ana@ulap.example";
const MEMBER = "ben@ulap.example";
const SINCE = "2026-11-19T00:00:00.000Z";

const served = useReceivers();

interface Known {
  readonly receiver: Receiver;
  readonly deliveryId: string;
  readonly replayId: string;
}

/** A brand with an owner and a member, a receiver, a delivery and a replay. */
async function knownBrand(): Promise<Known> {
  const brand = newBrand();
  served.members.roles.set(`${brand} ${OWNER}`, "owner").set(`${brand} ${MEMBER}`, "member");
  const receiver = await served.create(brand);
  const { id: deliveryId } = await addDelivery(served.db, receiver, { at: "2026-11-20T08:00:00.000Z", state: "failed" });
  const { replay } = await served.deliveriesRpc.replayEvents({ ...keyOf(receiver), since: SINCE, failed_only: false });
  return { receiver, deliveryId, replayId: present(replay).id };
}

type Call = (known: Known, acting_member?: string) => Promise<unknown>;

/** Every method that needs an owner. */
const CALLS: Record<string, Call> = {
  createReceiver: ({ receiver }, acting_member) => served.receivers.createReceiver({ ...receiverInput(receiver.brand_id), acting_member }),
  updateReceiver: ({ receiver }, acting_member) =>
    served.receivers.updateReceiver({ ...keyOf(receiver), events: [], label: "New", acting_member }),
  enableReceiver: ({ receiver }, acting_member) => served.receivers.enableReceiver({ ...keyOf(receiver), held: "release", acting_member }),
  sendWaiting: ({ receiver }, acting_member) => served.receivers.sendWaiting({ ...keyOf(receiver), all: true, acting_member }),
  rotateSecret: ({ receiver }, acting_member) => served.receivers.rotateSecret({ ...keyOf(receiver), acting_member }),
  activateSecret: ({ receiver }, acting_member) => served.receivers.activateSecret({ ...keyOf(receiver), force: true, acting_member }),
  sendTest: ({ receiver }, acting_member) => served.receivers.sendTest({ ...keyOf(receiver), next: false, acting_member }),
  replayDelivery: ({ receiver: { brand_id }, deliveryId }, acting_member) =>
    served.deliveriesRpc.replayDelivery({ brand_id, delivery_id: deliveryId, acting_member }),
  replayEvents: ({ receiver }, acting_member) =>
    served.deliveriesRpc.replayEvents({ ...keyOf(receiver), since: SINCE, failed_only: false, acting_member }),
  cancelReplay: ({ receiver: { brand_id }, replayId }, acting_member) =>
    served.deliveriesRpc.cancelReplay({ brand_id, replay_id: replayId, acting_member }),
  disableReceiver: ({ receiver }, acting_member) => served.receivers.disableReceiver({ ...keyOf(receiver), acting_member }),
  deleteReceiver: ({ receiver }, acting_member) => served.receivers.deleteReceiver({ ...keyOf(receiver), acting_member }),
};

const needingOwner = Object.entries(METHODS).flatMap(([path, { actor }]) => {
  const [, service = "", method = ""] = path.split("/");
  return service.startsWith("webhook.") && actor === "owner" ? [`${method.charAt(0).toLowerCase()}${method.slice(1)}`] : [];
});

it("covers every method whose request names an acting member, and no other", () => {
  const proto = readFileSync(join(import.meta.dirname, "../../../../proto/webhook/v1/webhook.proto"), "utf8");
  const naming = [...proto.matchAll(/^message (\w+)Request \{([^}]*)/gm)].flatMap(([, name = "", fields = ""]) =>
    fields.includes(" acting_member = ") ? [`${name.charAt(0).toLowerCase()}${name.slice(1)}`] : [],
  );
  expect(needingOwner.toSorted()).toEqual(naming.toSorted());
  expect(Object.keys(CALLS).toSorted()).toEqual(naming.toSorted());
});

const stateOf = (brandId: string) =>
  served.db.query(
    `select r.*, l.held, (select count(*) from webhook.deliveries d where d.receiver_id = r.id) as deliveries,
            (select count(*) from webhook.replays p where p.receiver_id = r.id and p.finished_at is null) as replays
       from webhook.receivers r join webhook.lanes l on l.receiver_id = r.id where r.brand_id = $1 order by r.id`,
    [brandId],
  );

it.each(Object.entries(CALLS))("%s is refused to all but the brand's owners, and then changes nothing", async (_, call) => {
  const known = await knownBrand();
  const { brand_id } = known.receiver;
  const theirs = newBrand();
  served.members.roles.set(`${theirs} zoe@ulap.example`, "owner");
  const before = await stateOf(brand_id);
  for (const stranger of [MEMBER, "zoe@ulap.example", "nobody@ulap.example"]) {
    await expect(call(known, stranger)).rejects.toMatchObject({ kind: "owner_required", field: "acting_member" });
  }
  for (const malformed of ["", "ana", `${OWNER}\0`]) {
    await expect(call(known, malformed)).rejects.toMatchObject({ kind: "invalid_request", field: "acting_member" });
  }
  // The owner of another brand learns nothing about this one's records.
  const asTheirs = { ...known, receiver: { ...known.receiver, brand_id: theirs } };
  await expect(call(asTheirs, OWNER)).rejects.toMatchObject({ kind: "owner_required" });
  expect(await stateOf(brand_id)).toEqual(before);
});

it("accepts an owner, in any case, for every method", async () => {
  const known = await knownBrand();
  for (const [method, call] of Object.entries(CALLS)) {
    await call(known, method === "sendTest" ? OWNER.toUpperCase() : OWNER);
  }
  expect(await served.receivers.listReceivers({ brand_id: known.receiver.brand_id })).toMatchObject({
    receivers: [{ label: "Ledger" }],
  });
});

it("an owner of two brands still cannot reach one's receiver through the other", async () => {
  const [known, other] = [await knownBrand(), await knownBrand()];
  const mixed = { ...known, receiver: { ...known.receiver, brand_id: other.receiver.brand_id } };
  await expect(CALLS["deleteReceiver"]?.(mixed, OWNER)).rejects.toMatchObject({ kind: "not_found", field: "receiver_id" });
  await expect(CALLS["cancelReplay"]?.(mixed, OWNER)).rejects.toMatchObject({ kind: "not_found", field: "replay_id" });
});

it("a removed owner is refused with the next call", async () => {
  const known = await knownBrand();
  await CALLS["sendTest"]?.(known, OWNER);
  served.members.roles.delete(`${known.receiver.brand_id} ${OWNER}`);
  await expect(CALLS["sendTest"]?.(known, OWNER)).rejects.toMatchObject({ kind: "owner_required" });
});

it("without accounts refuses an acting member as unavailable, changes nothing, and still serves the operator", async () => {
  const alone = await serveReceivers();
  const receiver = await alone.create(newBrand());
  alone.members.roles.set(`${receiver.brand_id} ${OWNER}`, "owner");
  await alone.members.stopServer();
  const rename = (label: string, acting_member?: string) =>
    alone.receivers.updateReceiver({ ...keyOf(receiver), events: [], label, acting_member });
  await expect(rename("Theirs", OWNER)).rejects.toMatchObject({ kind: "unavailable" });
  expect(await alone.get(receiver)).toEqual(receiver);
  expect(await rename("Ours")).toMatchObject({ receiver: { label: "Ours" } });
  await alone.stop();
});
