import { UsageServiceService, type FailedRequests, type ListFailedRequestsRequest } from "@brand-records/proto/accounts/v1";
import { service } from "@brand-records/rpc";
import { serve, type Served } from "../../test/serve.ts";
import { brandctl, type Outcome } from "../../test/test-terminal.ts";

const requests: ListFailedRequestsRequest[] = [];
const groups: FailedRequests[] = [];
let more: { has_more_groups: boolean; counted_since: string | null };
let served: Served;
const unused = async (): Promise<never> => {
  throw new Error("requests list only reads failures");
};
beforeAll(async () => {
  const listFailedRequests = async (request: ListFailedRequestsRequest) => {
    requests.push(request);
    return { groups, buckets: [{ start: "2026-11-21T08:00:00.000Z", requests: 12 }], ...more };
  };
  served = await serve(service(UsageServiceService, { listFailedRequests, recordUsage: unused, getUsage: unused, getTime: unused }));
});
afterAll(() => served.stop());
beforeEach(() => {
  requests.splice(0);
  more = { has_more_groups: false, counted_since: null };
  const times = { first_at: "2026-11-21T08:00:00.000Z", last_at: "2026-11-21T08:30:00.000Z", request_ids: ["r1"] };
  groups.splice(0, 9, {
    key_id: "key_1",
    route: "GET /api/v1/payouts",
    code: "invalid_parameter",
    field: "limit",
    requests: 1_200,
    ...times,
  });
});
const run = (line: string): Promise<Outcome> => brandctl(line.split(" "), { env: { ACCOUNTS_ADDRESS: served.address } });

it("lists what failed in columns, of seven days by default", async () => {
  expect((await run("requests list --brand brd_1 --until 2026-11-22T00:00:00Z")).stdout.split("\n")).toEqual([
    "REQUESTS  CODE               FIELD  ROUTE                KEY    LAST (UTC)",
    "   1,200  invalid_parameter  limit  GET /api/v1/payouts  key_1  2026-11-21 08:30",
    "",
  ]);
  expect(requests[0]).toMatchObject({ brand_id: "brd_1", from: "2026-11-15T00:00:00.000Z", to: "2026-11-22T00:00:00.000Z" });
});

it("filters, and has the counts and request ids with --json", async () => {
  const line = "requests list --brand brd_1 --key key_1 --code rate_limited --since 2026-11-21T00:00:00Z --json";
  expect((await run(line)).json()).toMatchObject({ groups: [{ request_ids: ["r1"] }], buckets: [{ requests: 12 }] });
  expect(requests[0]).toMatchObject({ key_id: "key_1", code: "rate_limited", from: "2026-11-21T00:00:00.000Z" });
});

it("says that nothing failed, that there is more, and that older counts are gone", async () => {
  more = { has_more_groups: true, counted_since: "2026-11-20T08:00:00.000Z" };
  const { stderr } = await run("requests list --brand brd_1");
  expect(stderr).toContain("Limited to the 200");
  expect(stderr).toContain("before 2026-11-20 08:00 UTC");
  groups.splice(0);
  expect((await run("requests list --brand brd_1")).stdout).toContain("No such request has failed.");
  expect((await run("requests list --brand brd_1 --key rcv_1")).code).toBe(2);
});
