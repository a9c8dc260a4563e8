import { once } from "node:events";
import { newId } from "@brand-records/ids";
import { campaign, deposit } from "../../test/sample-records.ts";
import { callContext, serveRecords, type ServedRecords } from "../../test/serve-records.ts";

let served: ServedRecords;
let brand: string;
let other: string;
beforeAll(async () => {
  served = await serveRecords();
});
beforeEach(() => {
  [brand, other] = [newId("brd"), newId("brd")];
});
afterAll(() => served.stop());

const deleteData = (outbox_after = 0) => served.operator.deleteBrandData({ brand_id: brand, outbox_after }, callContext());
const done = { deleted: [], done: true, waiting_for: null, outbox_after: 0 };

it("deletes the brand's records and its events in the outbox, and nothing of another brand", async () => {
  for (const id of [brand, other]) {
    await served.import(id, [campaign(), campaign()], { resource: "campaigns" });
    await served.import(id, [deposit()], { resource: "deposits" });
    await served.db.query("select records.emit('payout.paid', $1, 'po_1', '{}')", [id]);
  }
  const { deleted } = await deleteData();
  expect(deleted).toEqual([
    { kind: "campaigns", rows: 2 },
    { kind: "deposits", rows: 1 },
    { kind: "events in the outbox", rows: 1 },
  ]);
  expect(await deleteData()).toEqual(done);
  expect(await served.list(other, "campaigns")).toHaveLength(2);
  expect(await served.list(other, "deposits")).toHaveLength(1);
  expect(await served.db.query("select payload ->> 'brand_id' as brand from records.outbox")).toEqual([{ brand: other }]);
});

it("skips rows that a transaction holds, says so, and deletes them once it has ended", async () => {
  await served.import(brand, [deposit(), deposit()], { resource: "deposits" });
  await served.db.transaction(async (sql) => {
    await sql.query("select from records.deposits where brand_id = $1 order by id limit 1 for update", [brand]);
    expect(await deleteData()).toMatchObject({ deleted: [{ kind: "deposits", rows: 1 }], done: false });
    expect(await deleteData()).toMatchObject({ deleted: [], done: false, waiting_for: expect.stringContaining("hold records") });
  });
  expect(await deleteData()).toMatchObject({ deleted: [{ kind: "deposits", rows: 1 }], done: true });
});

it("searches an outbox that is larger than a range, and continues where a call says", async () => {
  const add = (id: string, count: number) =>
    served.db.query("select records.emit('payout.paid', $1, 'po_1', '{}') from generate_series(1, $2::int)", [id, count]);
  const seqs = () =>
    served.db.query<{ seq: number }>("select seq from records.outbox where payload ->> 'brand_id' = $1 order by seq", [brand]);
  await add(brand, 1);
  await add(other, 5_000);
  await add(brand, 1);
  const [first, last] = await seqs();
  expect(await deleteData(first?.seq)).toMatchObject({ deleted: [{ kind: "events in the outbox", rows: 1 }], outbox_after: 0 });
  expect(await seqs()).toEqual([first]);
  expect(last?.seq).toBeGreaterThan(5_000);
  await add(brand, 1);
  expect(await deleteData()).toEqual({ ...done, deleted: [{ kind: "events in the outbox", rows: 2 }] });
  await served.db.query("delete from records.outbox");
});

it("does not pass an event that a transaction holds", async () => {
  await served.db.query("select records.emit('payout.paid', $1, 'po_1', '{}')", [brand]);
  await served.db.transaction(async (sql) => {
    await sql.query("select from records.outbox where payload ->> 'brand_id' = $1 for update", [brand]);
    expect(await deleteData()).toMatchObject({ deleted: [], done: false, waiting_for: expect.stringContaining("hold events") });
  });
  expect(await deleteData()).toMatchObject({ deleted: [{ kind: "events in the outbox", rows: 1 }], done: true });
});

it("waits for an import into the brand, and not for one into another", async () => {
  const stream = served.importing.importRecords(callContext());
  stream.write({ start: { brand_id: brand, resource: "deposits", skip_bad: false } });
  stream.write({ chunk: { lines: [JSON.stringify(deposit())] } });
  await once(stream, "data");
  expect(await deleteData()).toMatchObject({ done: false, waiting_for: "an import into the brand" });
  expect(await served.operator.deleteBrandData({ brand_id: other, outbox_after: 0 }, callContext())).toEqual(done);
  stream.end({ commit: {} });
  for await (const _ of stream);
  expect(await deleteData()).toMatchObject({ deleted: [{ kind: "deposits", rows: 1 }], done: true });
});
