import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@brand-records/testkit";
import { AssetSearch } from "./asset-search.ts";
import type { ConsoleRequest, ConsoleResponse } from "./upstream.ts";

/** One promise: a file that some process has is found, and what no process has costs a bounded number of requests. */

/** Surveys that wait for their time, in milliseconds, and begin it. */
const waiting: { readonly ms: number; begin(): void }[] = [];
jest.mock("node:timers/promises", () => ({
  setTimeout: (ms: number) => (ms === 0 ? Promise.resolve() : new Promise<void>((begin) => waiting.push({ ms, begin }))),
}));

const INDEX = "/console/assets/";
const FILE = `${INDEX}app-00000new.js`;
const SURVEY = 15;

let files: string[];
/** Paths of the requests to other processes. */
let asked: string[];
/** Each search waits for it. */
let gate: Promise<void>;
let now: number;
let search: AssetSearch;

beforeEach(() => {
  [files, asked, gate, now] = [["app-00000new.js"], [], Promise.resolve(), 1_000];
  waiting.splice(0);
  jest.spyOn(performance, "now").mockImplementation(() => now);
  search = new AssetSearch(ask);
});
afterEach(() => jest.restoreAllMocks());

const responseOf = (statusCode: number, body: string): ConsoleResponse => ({ statusCode, headers: {}, body: Buffer.from(body) });
async function ask({ path }: ConsoleRequest): Promise<ConsoleResponse> {
  asked.push(path);
  if (path === INDEX) return responseOf(200, JSON.stringify(files));
  await gate;
  return files.includes(path.slice(INDEX.length)) ? responseOf(200, "new") : responseOf(404, "not found");
}

const find = async (path: string, network = "a"): Promise<string | undefined> => {
  const request = { method: "GET", path, headers: {}, body: undefined, signal: new AbortController().signal };
  return (await search.find(request, network))?.body.toString();
};
const random = (): string => `${INDEX}app-${Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString("base64url")}.js`;
const times = <T>(count: number, one: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => one(n)));

it.each(["x.js", "app-00000new", "app-00000new.js/x", "app-00000new.js?x", "%61pp-00000new.js", "app-00000new.php", ""])(
  "a name that no build gives is not looked for: %j",
  async (name) => {
    expect([await find(INDEX + name), asked]).toEqual([undefined, []]);
  },
);

it("every file of the built console is looked for", async () => {
  const built = await readdir(join(process.cwd(), "console/web/dist/assets"));
  files = built.filter((name) => !/\.(br|gz)$/.test(name));
  for (const name of files) expect([name, await find(INDEX + name)]).toEqual([name, "new"]);
});

it("1,000 ever new names of a network, one by one or at once, cost one survey in five seconds", async () => {
  for (let n = 0; n < 500; n += 1) expect(await find(random())).toBeUndefined();
  await times(500, () => find(random()));
  expect(asked).toEqual(Array.from({ length: SURVEY }, () => INDEX));
  now += 5_001;
  await eventually(async () => {
    await find(random());
    expect(asked).toHaveLength(2 * SURVEY);
  });
});

it("names of 1,000 networks at once cost one survey a second", async () => {
  await find(random(), "first");
  const others = times(1_000, (n) => find(random(), `network ${n}`));
  expect([asked.length, waiting.map(({ ms }) => ms)]).toEqual([SURVEY, [1_000]]);
  waiting[0]?.begin();
  await others;
  expect(asked).toHaveLength(2 * SURVEY);
});

it("a file that a process has since the last survey is found by the next one, which others' missing names do not keep away", async () => {
  files = [];
  await find(random(), "attacker");
  files = ["app-00000new.js", "style-00000new.css"];
  const found = Promise.all([find(FILE), find(FILE), find(`${INDEX}style-00000new.css`)]);
  expect(waiting).toHaveLength(1);
  waiting[0]?.begin();
  expect(await found).toEqual(["new", "new", "new"]);
  // Known by now, also to the network that may not have another survey.
  expect(await find(FILE, "attacker")).toBe("new");
});

it("a file whose processes have all gone is looked for once", async () => {
  expect(await find(FILE)).toBe("new");
  files = [];
  asked = [];
  for (let n = 0; n < 5; n += 1) expect(await find(FILE)).toBeUndefined();
  expect(asked).toEqual(Array.from({ length: SURVEY }, () => FILE));
});

it("a network has eight searches at a time, its others wait, and those of other networks do not", async () => {
  await find(FILE);
  let open = (): void => {};
  gate = new Promise((resolve) => (open = resolve));
  asked = [];
  const searches = times(20, () => find(FILE));
  await eventually(() => expect(asked).toHaveLength(8));
  const other = find(FILE, "b");
  await eventually(() => expect(asked).toHaveLength(9));
  open();
  expect(new Set([...(await searches), await other])).toEqual(new Set(["new"]));
});

it("a survey and a search end after five seconds, though processes hang", async () => {
  const timeout = jest.spyOn(AbortSignal, "timeout");
  expect(await find(FILE)).toBe("new");
  timeout.mockImplementation(() => AbortSignal.abort());
  asked = [];
  expect(await find(FILE)).toBeUndefined();
  expect([asked, timeout.mock.calls]).toEqual([[], [[5_000], [5_000], [5_000]]]);
});
