import { once } from "node:events";
import { newId } from "@brand-records/typeid";
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

const deleteData = () => served.operator.deleteBrandData({ brand_id: brand }, callContext());
const done = { deleted: [], done: true, waiting_for: null };

it("deletes the brand's records and its events in the outbox, and nothing of another brand", async () => {
  for (const id of [brand, other]) {
    await served.import(id, [campaign(), campaign()], { resource: "campaigns" });
    await served.import(id, [deposit()], { resource: "deposits" });
    await served.db.query("select records.emit('payout.paid', $1, 'po_1', '{}')", [id]);
  }
  const { deleted } = await deleteData();
  expect(deleted).toEqual([
    { kind: "events in the outbox", rows: 1 },
    { kind: "campaigns", rows: 2 },
    { kind: "deposits", rows: 1 },
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

it("waits for an import into the brand, and not for one into another", async () => {
  const stream = served.importing.importRecords(callContext());
  stream.write({ start: { brand_id: brand, resource: "deposits", skip_bad: false } });
  stream.write({ chunk: { lines: [JSON.stringify(deposit())] } });
  await once(stream, "data");
  expect(await deleteData()).toMatchObject({ done: false, waiting_for: "an import into the brand" });
  expect(await served.operator.deleteBrandData({ brand_id: other }, callContext())).toEqual(done);
  stream.end({ commit: {} });
  for await (const _ of stream);
  expect(await deleteData()).toMatchObject({ deleted: [{ kind: "deposits", rows: 1 }], done: true });
});
