import type { ListRequest } from "@brand-records/proto/records/v1";
import { newCallContext } from "@brand-records/rpc";
import type { Principal } from "../auth/principal.ts";
import type { Services } from "../services.ts";
import { listRecords } from "./list-records.ts";

const OPERATION = listRecords("conversions");
const FILTERS = { status: "pending", created_from: "2026-11-21T08:30:00+08:00" };

/** Runs the operation against a records service. Returns what it was asked for, too. */
async function run(given: object) {
  const requests: ListRequest[] = [];
  const listConversions = async (request: ListRequest) => {
    requests.push(request);
    return { data: [], next_cursor: null };
  };
  const services = { records: { listConversions } } as unknown as Services;
  const input = OPERATION.input.parse(given);
  const result = await OPERATION.run(services, { brand_id: "brd_1" } as Principal, input, newCallContext(1_000, "test"));
  return { body: result.body, requests };
}

it.each([
  ["filters", FILTERS],
  ["no filters", undefined],
] as const)("asks for a page with %s, and passes it on", async (_, filters) => {
  const { requests, body } = await run({ ...filters, cursor: "abc" });
  expect(requests).toEqual([{ brand_id: "brd_1", limit: 50, since: null, cursor: "abc", filters }]);
  expect(body).toEqual({ resource: "conversions", count: 0, data: [] });
});
