import type { Receiver } from "@brand-records/proto/webhook/v1";
import { addDelivery } from "../../test/add-delivery.ts";
import { addEvents } from "../../test/add-events.ts";
import { keyOf, newBrand, present, useReceivers } from "../../test/serve-receivers.ts";

const FROM = "2026-11-20T08:30:00.000Z";

const served = useReceivers();

const findBrand = async (id: string): Promise<string> => (await served.operator.findBrand({ id })).brand_id;

it.each<[string, (receiver: Receiver) => Promise<string | undefined>]>([
  ["a receiver", async ({ id }) => id],
  ["an event", async ({ brand_id: brandId }) => (await addEvents(served.db, { brandId, from: FROM, count: 1 }))[0]],
  ["a pending delivery", async (receiver) => (await addDelivery(served.db, receiver, { at: FROM, state: "pending" })).id],
  ["a finished delivery", async (receiver) => (await addDelivery(served.db, receiver, { at: FROM })).id],
  [
    "a replay",
    async (receiver) => {
      const { replay } = await served.deliveriesRpc.replayEvents({ ...keyOf(receiver), since: FROM, failed_only: false });
      return replay?.id;
    },
  ],
])("finds the brand of %s", async (_, idOf) => {
  const [receiver, theirs] = [await served.create(newBrand()), await served.create(newBrand())];
  expect(await findBrand(present(await idOf(receiver)))).toBe(receiver.brand_id);
  expect(await findBrand(present(await idOf(theirs)))).toBe(theirs.brand_id);
});

it.each([
  ["rcv_1", "receiver"],
  ["evt_1", "event"],
  ["dlv_1", "delivery"],
  ["rpl_1", "replay"],
])("returns not_found for %s, which does not exist, and names the kind", async (id, noun) => {
  const message = `There is no ${noun} with this id, or it is no longer stored`;
  await expect(findBrand(id)).rejects.toMatchObject({ kind: "not_found", field: "id", message });
});

it.each(["", "brd_1", "rcv", "rcv_A", "rcv_1' or true"])("refuses %j with invalid_request", async (id) => {
  const message = "id must be the id of a receiver (rcv_…), an event (evt_…), a delivery (dlv_…) or a replay (rpl_…)";
  await expect(findBrand(id)).rejects.toMatchObject({ kind: "invalid_request", field: "id", message });
});
