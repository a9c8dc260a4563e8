import { newId } from "@brand-records/typeid";
import { deposit } from "../../test/sample-records.ts";
import { callContext, serveRecords, type ServedRecords } from "../../test/serve-records.ts";

let served: ServedRecords;
let brand: string;
beforeAll(async () => {
  served = await serveRecords();
});
beforeEach(() => {
  brand = newId("brd");
});
afterAll(() => served.stop());

const list = (request: { limit?: number; cursor?: string | null; since?: string | null; brand_id?: string }) =>
  served.records.listDeposits({ brand_id: brand, limit: 50, ...request }, callContext());

it("returns records newest first, and by id, byte by byte, where times are equal", async () => {
  const at = (created_at: string, id: string) => deposit({ created_at, id });
  const [early, late] = ["2026-11-21T08:30:00.000Z", "2026-11-21T08:30:00.001Z"];
  const lines = [at(early, "dep_a"), at(late, "dep_0"), at(early, "dep_9"), at(early, "dep_z0"), at(early, "dep_z")];
  await served.import(brand, lines, { resource: "deposits" });
  expect((await list({})).data.map(({ id }) => id)).toEqual(["dep_0", "dep_z0", "dep_z", "dep_a", "dep_9"]);
});

it("has a cursor if and only if the page is full", async () => {
  await served.import(brand, [deposit(), deposit()], { resource: "deposits" });
  expect((await list({ limit: 3 })).next_cursor).toBeNull();
  const full = await list({ limit: 2 });
  expect(full.next_cursor).toEqual(expect.any(String));
  expect(await list({ limit: 2, cursor: full.next_cursor ?? "" })).toEqual({ data: [], next_cursor: null });
});

it.each([0, 201, -1])("refuses a limit of %i", async (limit) => {
  await expect(list({ limit })).rejects.toMatchObject({ kind: "invalid_parameter", field: "limit" });
});

it.each(["", "brd_", "brd_A", "brd_1' or 1=1", "cmp_1", "brd_1\n"])("refuses %j as a brand's id", async (brand_id) => {
  await expect(list({ brand_id })).rejects.toMatchObject({ kind: "invalid_parameter", field: "brand_id" });
});

it.each(["yesterday", "2026-11-21", "2026-11-21T08:30:00", ""])("refuses %j as since", async (since) => {
  await expect(list({ since })).rejects.toMatchObject({ kind: "invalid_parameter", field: "since" });
});

it("refuses a cursor of another since, and accepts it with the same time spelled differently", async () => {
  await served.import(brand, [deposit(), deposit()], { resource: "deposits" });
  const since = "2026-11-21T00:00:00Z";
  const { next_cursor: cursor } = await list({ limit: 1, since });
  expect((await list({ limit: 1, since: "2026-11-21T08:00:00.0+08:00", cursor: cursor ?? "" })).data).toHaveLength(1);
  for (const since of [null, "2026-11-21T00:00:00.001Z"]) {
    await expect(list({ limit: 1, since, cursor: cursor ?? "" })).rejects.toMatchObject({ kind: "invalid_cursor", field: "cursor" });
  }
});
