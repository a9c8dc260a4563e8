import type { AppError } from "@brand-records/errors";
import { openPool } from "@brand-records/postgres";
import type { ListRequest } from "@brand-records/proto/records/v1";
import { emptyRecord, type RecordOf, RESOURCES } from "@brand-records/resources";
import { eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { deposit } from "../../test/sample-records.ts";
import { callContext, CONNECTIONS, serveRecords, type ServedRecords } from "../../test/serve-records.ts";

let served: ServedRecords;
let brand: string;
beforeAll(async () => {
  served = await serveRecords();
});
beforeEach(() => {
  brand = newId("brd");
});
afterAll(() => served.stop());

const list = (request: Partial<ListRequest>) => served.records.listDeposits({ brand_id: brand, limit: 50, ...request }, callContext());

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

it.each(["", "brd_", "brd_A", "brd_1' or 1=1", "cmp_1", "brd_1\n"])("refuses %j as a brand's id", async (brand_id) => {
  await expect(list({ brand_id })).rejects.toMatchObject({ kind: "invalid_parameter", field: "brand_id" });
});

it.each([
  ["limit", { limit: 0 }],
  ["limit", { limit: 201 }],
  ["limit", { limit: -1 }],
  ["since", { since: "yesterday" }],
])("refuses a wrong %s, whatever the gateway lets through: %j", async (field, request) => {
  await expect(list(request)).rejects.toMatchObject({ kind: "invalid_parameter", field });
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

it("with fields, has no other but id and created_at, and the cursor that it has with all; other names select nothing", async () => {
  await served.import(brand, [deposit({ amount_centavos: 7, status: "succeeded" }), deposit()], { resource: "deposits" });
  for (const filters of [undefined, { status: "succeeded" }]) {
    const [all, some] = [
      await list({ limit: 1, filters }),
      await list({ limit: 1, filters, fields: { names: ["amount_centavos", "brand_id", "id from x --"] } }),
    ];
    const { id, created_at, amount_centavos } = all.data[0] as RecordOf<"deposits">;
    expect(some).toEqual({ ...all, data: [{ ...emptyRecord(RESOURCES.deposits), id, created_at, amount_centavos }] });
  }
});

describe("filters", () => {
  const at = (second: number, fields: Partial<ReturnType<typeof deposit>> = {}) =>
    deposit({ created_at: `2026-11-21T08:30:0${second}.000Z`, id: `dep_${second}`, campaign_id: null, ...fields });
  const idsOf = async (request: Partial<ListRequest>) => (await list(request)).data.map(({ id }) => id);

  beforeEach(async () => {
    const lines = [
      at(1, { status: "pending" }),
      at(2, { status: "succeeded", campaign_id: "cmp_a" }),
      at(3, { status: "pending", campaign_id: "cmp_a" }),
      at(4, { status: "pending", campaign_id: "cmp_b" }),
      at(5, { status: "failed", campaign_id: "cmp_a" }),
    ];
    await served.import(brand, lines, { resource: "deposits" });
  });

  it("keep the records that match all of them", async () => {
    expect(await idsOf({ filters: { status: "pending" } })).toEqual(["dep_4", "dep_3", "dep_1"]);
    expect(await idsOf({ filters: { campaign_id: "cmp_a" } })).toEqual(["dep_5", "dep_3", "dep_2"]);
    expect(await idsOf({ filters: { campaign_id: "cmp_a", status: "pending" } })).toEqual(["dep_3"]);
    expect(await idsOf({ filters: { id: "dep_3" } })).toEqual(["dep_3"]);
    expect(await idsOf({ filters: { id: "dep_3", status: "failed" } })).toEqual([]);
  });

  it("compare times to the last digit: at or after, and before", async () => {
    const [from, before] = ["2026-11-21T16:30:02+08:00", "2026-11-21T08:30:04Z"];
    expect(await idsOf({ filters: { created_from: from, created_before: before } })).toEqual(["dep_3", "dep_2"]);
    const [justAfter, justAfterEnd] = ["2026-11-21T08:30:02.000000001Z", "2026-11-21T08:30:04.000000001Z"];
    expect(await idsOf({ filters: { created_from: justAfter, created_before: justAfterEnd } })).toEqual(["dep_4", "dep_3"]);
    expect(await idsOf({ since: "2026-11-21T08:30:03Z", filters: { created_from: from } })).toEqual(["dep_5", "dep_4"]);
    expect(await idsOf({ since: "2026-11-21T08:30:01Z", filters: { created_from: from, status: "pending" } })).toEqual(["dep_4", "dep_3"]);
  });

  it.each([
    [{ created_from: "0001-01-01T00:00:00Z" }, 5],
    [{ created_from: "9999-12-31T23:59:59.9999-23:59" }, 0],
    [{ created_before: "0001-01-01T00:00:00Z" }, 0],
    [{ created_before: "9999-12-31T23:59:59.9999-23:59" }, 5],
    [{ created_from: "9999-12-31T23:59:59.9999-23:59", status: "pending" }, 0],
    [{ created_before: "9999-12-31T23:59:59.9999-23:59", status: "pending" }, 3],
  ])("take times that no record can have: %j", async (filters, count) => {
    expect((await list({ filters, limit: 2, since: "2000-01-01T00:00:00Z" })).data).toHaveLength(Math.min(count, 2));
    expect((await list({ filters })).data).toHaveLength(count);
  });

  it("are in the cursor: with others it is refused, and the same time may be spelt differently", async () => {
    const filters = { status: "pending", created_from: "2026-11-21T08:30:00Z" };
    const cursor = (await list({ limit: 1, filters })).next_cursor ?? "";
    const { data } = await list({ limit: 1, cursor, filters: { ...filters, created_from: "2026-11-21T16:29:59.9999999+08:00" } });
    expect(data).toMatchObject([{ id: "dep_3" }]);
    for (const others of [{ status: "pending" }, undefined])
      await expect(list({ limit: 1, cursor, filters: others })).rejects.toMatchObject({ kind: "invalid_cursor", field: "cursor" });
  });

  it("that a resource does not have, or with a wrong value, are refused", async () => {
    for (const [field, value, message] of [
      ["link_id", "lnk_1", "link_id is no filter of deposits"],
      ["status", "paid", "status must be one of pending, succeeded, failed, expired, refunded"],
    ] as const)
      await expect(list({ filters: { [field]: value } })).rejects.toMatchObject({ kind: "invalid_parameter", field, message });
  });
});

it("leaves half of the connections to other brands while one brand's pages take long", async () => {
  const elsewhere = openPool({ url: served.url, applicationName: "elsewhere", max: 2 });
  await elsewhere.transaction(async (sql) => {
    // Pages of conversions wait for it, as they would read long without their index.
    await sql.query("lock table records.conversions in access exclusive mode");
    const waiting = `select from pg_stat_activity
      where datname = current_database() and application_name = 'records test' and wait_event_type = 'Lock'`;
    const calls = Array.from({ length: 2 * CONNECTIONS }, () =>
      served.records.listConversions({ brand_id: brand, limit: 50 }, callContext(8_000)).catch((error: AppError) => error.kind),
    );
    await eventually(async () => expect(await elsewhere.query(waiting)).toHaveLength(CONNECTIONS / 2));
    const links = await served.records.listLinks({ brand_id: newId("brd"), limit: 50 }, callContext());
    expect(links.data).toEqual([]);
    expect(await elsewhere.query(waiting)).toHaveLength(CONNECTIONS / 2);
    expect(new Set(await Promise.all(calls))).toEqual(new Set(["timeout"]));
  });
  await elsewhere.stop();
});
