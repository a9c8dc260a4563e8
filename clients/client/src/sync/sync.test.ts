import { BrandRecords } from "../brand-records.ts";
import type { SyncStore } from "./store.ts";
import type { SyncOptions } from "./sync.ts";

/** One promise: a walk leaves the brand's other programs half of the limit, in whichever window. */

const [LIMIT, WINDOW_MS, PAGES] = [10, 60_000, 40];
const STORE: SyncStore = { load: () => ({ brandId: undefined, progress: undefined }), writePage: () => {}, finishWalk: () => {} };

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** Walks lists of one page, but for 40 of campaigns. Returns when each request came. */
async function walk(options?: SyncOptions): Promise<number[]> {
  const times: number[] = [];
  const fetch = async (input: string | URL | Request): Promise<Response> => {
    times.push(performance.now());
    const resource = /v1\/(\w+)/.exec(input as string)?.[1];
    const next_cursor = times.length < PAGES ? "next" : undefined;
    const headers = { "X-Brand-Id": "brd_1", "RateLimit-Policy": `"brand";q=${LIMIT};w=60`, RateLimit: '"brand";r=9;t=60' };
    return Response.json({ resource, count: 0, data: [], next_cursor }, { headers });
  };
  const walked = new BrandRecords({ url: "https://records.example", key: "brk_live_x", fetch }).sync(STORE, options);
  await jest.advanceTimersByTimeAsync(60 * WINDOW_MS);
  await walked;
  expect(times).toHaveLength(PAGES + 5);
  return times;
}

it.each([
  [undefined, 0.5],
  [1, 1],
  [0.1, 0.1],
  [0.01, 0.1],
])("with share %d takes %d of the limit in every window, and no less", async (share, part) => {
  const times = await walk({ share });
  times.slice(LIMIT * part).forEach((time, index) => expect(time - (times[index] ?? 0)).toBeGreaterThanOrEqual(WINDOW_MS));
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeLessThan((times.length / (LIMIT * part)) * WINDOW_MS);
});

it.each([0, -1, 1.5, Number.NaN])("refuses a share of %d", async (share) => {
  await expect(new BrandRecords({ url: "https://records.example", key: "brk_live_x" }).sync(STORE, { share })).rejects.toThrow(
    new TypeError("share must be above 0 and at most 1"),
  );
});
