import { type BrandRequests, type ServedRequest, ServedRequests } from "@brand-records/proto/accounts/v1";
import { LastRequests } from "./last-requests.ts";

const numbered = (n: number): ServedRequest => ({
  at: "2026-11-22T12:00:00.000Z",
  key_id: "key_1",
  route: "GET /api/v1/payouts",
  http_status: 200,
  code: "",
  duration_ms: 12,
  request_id: `r${n}`,
  client: "node",
});
const add = (requests: LastRequests, brand: string, count: number, first = 1): void => {
  for (let n = first; n < first + count; n += 1) requests.add(brand, numbered(n));
};
/** Brand, count, and ids of the first and the last. */
const summary = ({ brand_id, count, requests: bytes }: BrandRequests) => {
  const { requests } = ServedRequests.decode(bytes);
  expect(requests).toHaveLength(count);
  return [brand_id, count, requests[0]?.request_id, requests.at(-1)?.request_id];
};

it("keeps of each brand the newest 1,000, in order, until they are taken", () => {
  const requests = new LastRequests();
  add(requests, "brd_1", 1_500);
  add(requests, "brd_2", 3);
  expect(requests.size).toBe(1_003);
  expect(requests.take().map(summary)).toEqual([
    ["brd_1", 1_000, "r501", "r1500"],
    ["brd_2", 3, "r1", "r3"],
  ]);
  expect([requests.size, requests.take()]).toEqual([0, []]);
});

it("takes at most 5,000 at once, all of a brand together, those first that have waited longest", () => {
  const requests = new LastRequests();
  for (let brand = 1; brand <= 9; brand += 1) add(requests, `brd_${brand}`, 900);
  const taken = [requests.take(), requests.take()].map((batch) => batch.map(({ brand_id }) => brand_id));
  expect(taken).toEqual([
    ["brd_1", "brd_2", "brd_3", "brd_4", "brd_5"],
    ["brd_6", "brd_7", "brd_8", "brd_9"],
  ]);
});

it("is bounded: the flood of a brand takes no place of another's, and makes room for it", () => {
  const requests = new LastRequests(100);
  add(requests, "brd_quiet", 5);
  add(requests, "brd_1", 10_000);
  add(requests, "brd_late", 1);
  add(requests, "brd_quiet", 2, 6);
  expect(requests.size).toBe(100);
  expect(requests.take().map(summary)).toEqual([
    ["brd_quiet", 7, "r1", "r7"],
    ["brd_1", 92, "r9909", "r10000"],
    ["brd_late", 1, "r1", "r1"],
  ]);
  expect([requests.size, requests.take()]).toEqual([0, []]);
});

it("stays bounded where there are more brands than places, and takes no brand without requests", () => {
  const requests = new LastRequests(3);
  for (let n = 1; n <= 5; n += 1) add(requests, `brd_${n}`, 2);
  expect(requests.size).toBe(3);
  expect(requests.take()).toHaveLength(3);
});
