import type { ListRequest, RecordFilters } from "@brand-records/proto/records/v1";
import { newCallContext } from "@brand-records/rpc";
import type { Principal } from "../auth/principal.ts";
import type { Services } from "../services.ts";
import { listRecords } from "./list-records.ts";

const OPERATION = listRecords("conversions");
const FILTERS = { status: "pending", created_from: "2026-11-21T08:30:00+08:00" };

/** Runs the operation against a records service that returns `applied`. Returns what it was asked for, too. */
async function run(given: object, applied: RecordFilters | null | undefined) {
  const requests: ListRequest[] = [];
  const listConversions = async (request: ListRequest) => {
    requests.push(request);
    return { data: [], next_cursor: null, filters: applied };
  };
  const services = { records: { listConversions } } as unknown as Services;
  const input = OPERATION.input.parse(given);
  const result = await OPERATION.run(services, { brand_id: "brd_1" } as Principal, input, newCallContext(1_000, "test"));
  return { body: result.body, requests };
}

const unavailable = { kind: "unavailable", retryAfterSeconds: 5, dependency: "records" };

it("asks for filtered pages with the cursor where a process that does not know filters does not look", async () => {
  const { requests } = await run({ ...FILTERS, cursor: "abc" }, FILTERS);
  expect(requests).toEqual([{ brand_id: "brd_1", limit: 50, since: null, cursor: null, filtered_cursor: "abc", filters: FILTERS }]);
});

it("asks for unfiltered pages as before", async () => {
  const { requests } = await run({ cursor: "abc" }, null);
  expect(requests).toEqual([{ brand_id: "brd_1", limit: 50, since: null, cursor: "abc" }]);
});

it("passes on a page that was filtered as asked", async () => {
  const applied = { id: null, campaign_id: null, link_id: null, created_before: null, ...FILTERS };
  expect((await run(FILTERS, applied)).body).toEqual({ resource: "conversions", count: 0, data: [] });
});

it.each<[string, RecordFilters | null | undefined]>([
  ["not filtered, by a process that does not know filters", undefined],
  ["not filtered", null],
  ["filtered by fewer", { status: "pending" }],
  ["filtered by more", { ...FILTERS, link_id: "lnk_1" }],
  ["filtered by another value", { ...FILTERS, status: "approved" }],
])("refuses a page that was %s", async (_, applied) => {
  await expect(run(FILTERS, applied)).rejects.toMatchObject(unavailable);
});

it("refuses a filtered page that it did not ask for", async () => {
  await expect(run({}, FILTERS)).rejects.toMatchObject(unavailable);
});
