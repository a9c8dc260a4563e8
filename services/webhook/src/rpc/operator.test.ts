import { addEvents } from "../../test/add-events.ts";
import { callContext, newBrand, present, useReceivers } from "../../test/serve-receivers.ts";

const FROM = "2026-11-20T08:30:00.000Z";

const served = useReceivers();

const findBrand = async (id: string): Promise<string> => (await served.operator.findBrand({ id }, callContext())).brand_id;

describe("FindBrand", () => {
  it("finds the brand of a receiver, among those of other brands", async () => {
    const [ours, theirs] = [await served.create(newBrand()), await served.create(newBrand())];
    expect([await findBrand(ours.id), await findBrand(theirs.id)]).toEqual([ours.brand_id, theirs.brand_id]);
  });

  it("finds the brand of an event", async () => {
    const brandId = newBrand();
    const [id] = await addEvents(served.db, { brandId, from: FROM, count: 1 });
    expect(await findBrand(present(id))).toBe(brandId);
  });

  it("finds the brand of a delivery while it is pending and once it is finished", async () => {
    const receiver = await served.create(newBrand());
    await served.addDeliveries(receiver, 1);
    const [delivery] = await served.db.query<{ id: string }>("select id from webhook.deliveries where receiver_id = $1", [receiver.id]);
    const { id } = present(delivery);
    expect(await findBrand(id)).toBe(receiver.brand_id);
    await addEvents(served.db, { brandId: receiver.brand_id, from: FROM, count: 1 });
    await served.db.query(
      `with finished as (delete from webhook.deliveries where id = $1 returning *)
       insert into webhook.past_deliveries (id, brand_id, receiver_id, event_id, event_created_at, event_type, state, attempts, test, created_at,
                                            attempt_id, started_at, duration_ms, outcome)
       select id, $2, receiver_id, event_id, $3::timestamptz, event_type, 'delivered', 1, test, created_at, 'att_1', now(), 120, 'accepted' from finished`,
      [id, receiver.brand_id, FROM],
    );
    expect(await findBrand(id)).toBe(receiver.brand_id);
  });

  it("finds the brand of a replay", async () => {
    const { brand_id, id } = await served.create(newBrand());
    const { replay } = await served.deliveriesRpc.replayEvents(
      { brand_id, receiver_id: id, since: FROM, failed_only: false },
      callContext(),
    );
    expect(await findBrand(present(replay).id)).toBe(brand_id);
  });

  it.each([
    ["rcv_1", "receiver"],
    ["dlv_1", "delivery"],
    ["rpl_1", "replay"],
  ])("returns not_found for %s, which does not exist, and names the kind", async (id, noun) => {
    await expect(findBrand(id)).rejects.toMatchObject({
      kind: "not_found",
      field: "id",
      message: `There is no ${noun} with this id, or it is no longer stored`,
    });
  });

  it.each(["", "brd_1", "cmp_1", "rcv", "rcv_", "rcv_A", "rcv_1' or true", " rcv_1"])("refuses %j with invalid_request", async (id) => {
    await expect(findBrand(id)).rejects.toMatchObject({
      kind: "invalid_request",
      field: "id",
      message: "id must be the id of a receiver (rcv_…), an event (evt_…), a delivery (dlv_…) or a replay (rpl_…)",
    });
  });
});
