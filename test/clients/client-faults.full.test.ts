import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { inspect } from "node:util";
import { BrandRecords, BrandRecordsError, type ClientOptions, type Payout, type Retry } from "@brand-records/client";
import { importRecords } from "@brand-records/brandctl";
import { openPool, type Database } from "@brand-records/postgres";
import { RESOURCES } from "@brand-records/resources";
import { newId } from "@brand-records/ids";
import { startForwardingProxy, type ForwardingProxy } from "../forwarding-proxy.ts";
import { planInput } from "../plan-input.ts";
import { seedBrand } from "../seed-brand.ts";
import { callContext, startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";
import { startCuttingProxy, type CuttingProxy } from "./cutting-proxy.ts";

/** One promise: whatever happens to its requests, the client misses no record, repeats none, and makes a plan once. */

type Intercept = (number: number, incoming: IncomingMessage, outgoing: ServerResponse) => boolean | Promise<boolean>;

let stack: SharedStack;
let db: Database;
let proxy: ForwardingProxy;
let cutting: CuttingProxy;
let brand: TestBrand;
let ids: readonly string[];
/** Called for the first, second, … request of a test. */
let onRequest: Intercept;
let requests: number;
let retries: Retry[];

beforeAll(async () => {
  stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "100000" });
  db = openPool({ url: stack.databaseUrl, max: 1, applicationName: "test" });
  proxy = await startForwardingProxy(stack.url, {
    intercept: async (incoming, outgoing) => onRequest((requests += 1), incoming, outgoing),
  });
  cutting = await startCuttingProxy(stack.url);
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  await seedBrand(stack, brand.id, { campaigns: 2, submissions: 30, payouts: 30, deposits: 2, conversions: 2, links: 2 });
  ids = await idsOf(new BrandRecords({ url: stack.url, key: brand.key }).payouts());
  expect(ids).toHaveLength(30);
});
beforeEach(() => {
  onRequest = () => false;
  requests = 0;
  retries = [];
});
afterAll(async () => {
  await cutting.stop();
  await proxy.stop();
  await db.stop();
  await stack.stop();
});

const client = (options: Partial<ClientOptions> = {}): BrandRecords =>
  new BrandRecords({ url: proxy.url, key: brand.key, onRetry: (retry) => retries.push(retry), ...options });

async function idsOf(list: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  const all: string[] = [];
  for await (const { id } of list) all.push(id);
  return all;
}

const expectAll = async (records: BrandRecords, limit = 7): Promise<void> =>
  expect(await idsOf(records.payouts({}, { limit }))).toEqual(ids);

function respond(outgoing: ServerResponse, status: number, headers: Record<string, string> = {}, body = ""): true {
  outgoing.writeHead(status, headers).end(body);
  return true;
}

const failure = (promise: Promise<unknown>): Promise<BrandRecordsError> =>
  promise.then(
    () => Promise.reject(new Error("it was resolved")),
    (error: unknown) => {
      expect(error).toBeInstanceOf(BrandRecordsError);
      return error as BrandRecordsError;
    },
  );

const plansOf = ({ id }: TestBrand) => db.query<{ id: string }>("select id from plans.plans where brand_id = $1", [id]);

describe("a walk", () => {
  it("has every record once, although records are made while it lasts", async () => {
    onRequest = async () => {
      const target = { brandId: brand.id, resource: "links" as const, skipBad: false };
      const link = { ...RESOURCES.links.example, id: newId("lnk"), created_at: new Date().toISOString() };
      const { problems } = await importRecords(stack.importing, target, [JSON.stringify(link)]);
      expect(problems).toEqual([]);
      return false;
    };
    const before = await idsOf(new BrandRecords({ url: stack.url, key: brand.key }).links());
    const seen = await idsOf(client().links({}, { limit: 1 }));
    // Each request made one: the first page lists the first, and the others come before the pages that were left.
    expect(seen).toEqual([expect.stringMatching(/^lnk_/), ...before]);
    expect(requests).toBe(seen.length + 1);
  });

  it("outlasts storms of 429, which it waits out", async () => {
    onRequest = (number, _, outgoing) =>
      number % 2 === 1 && respond(outgoing, 429, { "Retry-After": "1" }, '{"error":{"code":"rate_limited"}}');
    await Promise.all([expectAll(client(), 29), expectAll(client(), 29), expectAll(client(), 29)]);
    expect(retries.length).toBeGreaterThanOrEqual(6);
    for (const { delayMs, error } of retries) {
      expect(error).toMatchObject({ code: "rate_limited", status: 429, retryAfter: 1 });
      expect(delayMs).toBeGreaterThanOrEqual(1_000);
    }
  });

  it.each<[name: string, fail: Intercept, error: object]>([
    [
      "503 with Retry-After",
      (_, __, outgoing) => respond(outgoing, 503, { "Retry-After": "1" }, '{"error":{"code":"unavailable"}}'),
      { code: "unavailable", retryAfter: 1 },
    ],
    ["503 without", (_, __, outgoing) => respond(outgoing, 503), { code: "unexpected_response", retryAfter: undefined }],
    ["429 without Retry-After", (_, __, outgoing) => respond(outgoing, 429), { status: 429 }],
    ["500", (_, __, outgoing) => respond(outgoing, 500, {}, '{"error":{"code":"internal_error"}}'), { code: "internal_error" }],
    ["502 of a proxy", (_, __, outgoing) => respond(outgoing, 502, {}, "<html>"), { code: "unexpected_response", status: 502 }],
    ["504", (_, __, outgoing) => respond(outgoing, 504, {}, '{"error":{"code":"timeout"}}'), { code: "timeout" }],
    ["408", (_, __, outgoing) => respond(outgoing, 408), { status: 408 }],
    ["a lost connection", (_, __, outgoing) => outgoing.destroy().destroyed, { code: "no_response", status: undefined }],
    [
      "a page whose end is missing",
      (_, __, outgoing) => respond(outgoing, 200, { "X-Brand-Id": brand.id }, '{"resource":"payouts","data":['),
      { code: "no_response" },
    ],
    [
      "an object that is no page",
      (_, __, outgoing) => respond(outgoing, 200, { "X-Brand-Id": brand.id }, '{"data":{}}'),
      { code: "no_response" },
    ],
    [
      "the page of another list",
      (_, __, outgoing) => respond(outgoing, 200, { "X-Brand-Id": brand.id }, '{"resource":"links","data":[]}'),
      { code: "no_response" },
    ],
  ])("repeats a page after %s", async (_, fail, error) => {
    onRequest = (number, ...exchange) => number === 2 && fail(number, ...exchange);
    await expectAll(client(), 10);
    expect(requests).toBe(5);
    expect(retries).toEqual([expect.objectContaining({ attempts: 1, error: expect.objectContaining(error) })]);
  });

  it("repeats a page that does not come in time, also one that stalls within its body", async () => {
    const length = await lengthOf((url) => client({ url }).payouts({}, { limit: 15 }).page());
    const urls = [1, 100, length - 1].map((bytes) => cutting.urlOf("stall", bytes));
    await Promise.all(urls.map((url) => expectAll(client({ url, timeoutMs: 3_000 }), 15)));
    expect(retries.map(({ error, attempts }) => [error.code, attempts])).toEqual(urls.map(() => ["no_response", 1]));
  });

  it("is whole, wherever the connection of its first page is cut", async () => {
    const length = await lengthOf((url) => client({ url }).payouts({}, { limit: 2 }).page());
    // Through the head and the body, the first and the last byte among them, in both ways.
    const places = [...Array.from({ length: Math.floor(length / 13) }, (_, index) => 1 + 13 * index), length - 1];
    const cuts = places.flatMap((bytes) => [cutting.urlOf("end", bytes), cutting.urlOf("reset", bytes)]);
    const expected = ids.slice(0, 2);
    const read = async (url: string | undefined): Promise<void> => {
      if (url === undefined) return;
      const { data } = await client({ url }).payouts({}, { limit: 2 }).page();
      expect({ url, ids: data.map(({ id }) => id) }).toEqual({ url, ids: expected });
      expect(cutting.requests.get(`GET ${new URL(url).pathname}`)).toBe(2);
      await read(cuts.pop());
    };
    expect(cuts.length).toBeGreaterThan(100);
    const count = cuts.length;
    await Promise.all(Array.from({ length: 50 }, () => read(cuts.pop())));
    expect(retries).toHaveLength(count);
    const codes = new Set(retries.map(({ error }) => (error.cause as { cause?: { code?: string } }).cause?.code));
    // Both ways of cutting. What undici makes of an end within a body depends on what has arrived by then.
    expect([...codes]).toEqual(expect.arrayContaining(["ECONNRESET", "UND_ERR_SOCKET"]));
  });

  it("refuses the page of another brand, if its key takes the place of the first", async () => {
    const other = await stack.createBrand();
    let key = brand.key;
    const pages = client({ key: () => key })
      .payouts({}, { limit: 7 })
      .pages();
    await pages.next();
    key = other.key;
    expect(await failure(pages.next())).toMatchObject({ code: "wrong_brand", brandId: other.id });
    expect(await failure(client({ key: other.key, expectBrand: brand.id }).payouts().page())).toMatchObject({ code: "wrong_brand" });
    // Names the brand first: the limit may be used up by another program of that brand.
    onRequest = (_, __, outgoing) => respond(outgoing, 429, { "X-Brand-Id": other.id, "Retry-After": "1" });
    expect(await failure(client({ expectBrand: brand.id }).payouts().page())).toMatchObject({ code: "wrong_brand" });
    onRequest = (_, __, outgoing) => respond(outgoing, 200, {}, '{"resource":"payouts","data":[]}');
    expect(await failure(client({ expectBrand: brand.id }).payouts().page())).toMatchObject({ code: "wrong_brand", brandId: undefined });
    expect(retries).toEqual([]);
  });

  it("goes on with a key that took the place of one which was revoked", async () => {
    const walker = await stack.createBrand();
    await seedBrand(stack, walker.id, { campaigns: 2, submissions: 2, payouts: 30, deposits: 2, conversions: 2, links: 2 });
    let key = walker.key;
    onRequest = async (number) => {
      if (number !== 2) return false;
      const created = await stack.accounts.createKey(
        { brand_id: walker.id, name: "Next", environment: "live", permissions: [], created_by: walker.owner },
        callContext(),
      );
      await stack.accounts.revokeKey({ key_id: walker.keyId, revoked_by: walker.owner }, callContext());
      key = ` ${created.secret}\n`;
      return false;
    };
    expect(await idsOf(client({ key: async () => key }).payouts({}, { limit: 10 }))).toHaveLength(30);
    expect(proxy.exchanges.map(({ status }) => status)).toContain(401);
    expect(await failure(client({ key: walker.key }).payouts().page())).toMatchObject({ code: "invalid_key", status: 401, attempts: 1 });
  });
});

it("is sent again once with another key, although a function may return another each time", async () => {
  let keys = 0;
  onRequest = (_, __, outgoing) => respond(outgoing, 401, {}, '{"error":{"code":"invalid_key"}}');
  const error = await failure(
    client({ key: () => `brk_live_${(keys += 1)}` })
      .payouts()
      .page(),
  );
  expect(error).toMatchObject({ code: "invalid_key", attempts: 2 });
  expect(requests).toBe(2);
});

describe("a request", () => {
  it("ends with the last error, before a wait that the deadline leaves no time for", async () => {
    onRequest = (_, __, outgoing) =>
      respond(outgoing, 429, { "Retry-After": "60" }, '{"error":{"code":"rate_limited","request_id":"r-1"}}');
    expect(await failure(client({ deadlineMs: 50_000 }).payouts().page())).toMatchObject({
      code: "rate_limited",
      retryAfter: 60,
      requestId: "r-1",
      attempts: 1,
    });
    onRequest = (_, __, outgoing) => outgoing.destroy().destroyed;
    const error = await failure(client().payouts({}, { deadlineMs: 1_500 }).page());
    expect(error).toMatchObject({ code: "no_response", message: expect.stringMatching(/^no complete response: /) });
    expect(error.attempts).toBeGreaterThan(1);
    expect(error.attempts).toBe(requests - 1);
  });

  it("is not repeated if only a person can help", async () => {
    expect(await failure(client().payouts({ status: "lost" }).page())).toMatchObject({
      code: "invalid_parameter",
      status: 400,
      field: "status",
      brandId: brand.id,
      requestId: expect.stringMatching(/./),
      attempts: 1,
      message: expect.stringContaining("pending"),
    });
    expect(await failure(client().prepareCampaignPlan({ ...planInput({ title: "", goal: "" }), campaign_type: "blitz" }))).toMatchObject({
      code: "invalid_request",
      field: "title",
      details: [{ field: "title" }, { field: "goal" }],
    });
    onRequest = (_, __, outgoing) => respond(outgoing, 302, { Location: "https://elsewhere.example/" });
    expect(await failure(client().payouts().page())).toMatchObject({
      code: "unexpected_response",
      status: 302,
      message: expect.stringContaining("https://elsewhere.example/"),
    });
    onRequest = (_, __, outgoing) => respond(outgoing, 200, {}, "<html>");
    expect(await failure(client().payouts().page())).toMatchObject({ code: "unexpected_response", status: 200 });
    expect(retries).toEqual([]);
  });

  it("ends with the reason of its signal: before it, on its way, within a body, and between two attempts", async () => {
    const reason = new Error("enough");
    await expect(
      client()
        .payouts({}, { signal: AbortSignal.abort(reason) })
        .page(),
    ).rejects.toBe(reason);
    expect(requests).toBe(0);
    const abortOn = async (intercept: (controller: AbortController) => Intercept): Promise<void> => {
      const controller = new AbortController();
      onRequest = intercept(controller);
      await expect(client().payouts({}, { signal: controller.signal }).page()).rejects.toBe(reason);
      expect(retries.splice(0).length + 1).toBe(requests);
      requests = 0;
    };
    await abortOn((controller) => () => {
      controller.abort(reason);
      return true;
    });
    await abortOn((controller) => (_, __, outgoing) => {
      outgoing.writeHead(200, { "X-Brand-Id": brand.id }).write('{"data":[', () => controller.abort(reason));
      return true;
    });
    const controller = new AbortController();
    onRequest = (_, __, outgoing) => respond(outgoing, 503, { "Retry-After": "100" });
    const waiting = client({ onRetry: () => controller.abort(reason) })
      .payouts({}, { signal: controller.signal })
      .page();
    await expect(waiting).rejects.toBe(reason);
    expect(requests).toBe(1);
    const forKey = new AbortController();
    const key = (): Promise<string> => {
      forKey.abort(reason);
      return new Promise(() => {});
    };
    await expect(client({ key }).payouts({}, { signal: forKey.signal }).page()).rejects.toBe(reason);
  });

  it("may take any time", async () => {
    await client({ timeoutMs: Infinity, deadlineMs: Infinity }).payouts({}, { limit: 1 }).page();
    expect(retries).toEqual([]);
  });

  it("keeps fields and values of later versions, and the largest amount", async () => {
    onRequest = async (_, incoming, outgoing) => {
      const page = (await (await stack.get(incoming.url ?? "", brand.key)).json()) as { data: Payout[] };
      const data = page.data.map((payout) => ({
        ...payout,
        status: "frozen",
        mood: { score: 7 },
        amount_centavos: Number.MAX_SAFE_INTEGER,
      }));
      return respond(outgoing, 200, { "X-Brand-Id": brand.id, "X-Later": "1" }, JSON.stringify({ ...page, data, later: true }));
    };
    const { data } = await client().payouts({}, { limit: 1 }).page();
    expect(data).toEqual([expect.objectContaining({ status: "frozen", mood: { score: 7 }, amount_centavos: 9_007_199_254_740_991 })]);
  });

  it("shows its key in no error and no log, and is refused one that is none", async () => {
    onRequest = (_, __, outgoing) => outgoing.destroy().destroyed;
    const records = client();
    const error = await failure(records.payouts({}, { deadlineMs: 1 }).page());
    expect(inspect([records, records.payouts(), error], { depth: 9, showHidden: true })).not.toContain(brand.key.slice(9, 20));
    for (const key of ["", " ", "two words", `${brand.key}\nx`, "brk–live", undefined]) {
      const make = (): unknown => client({ key: key as string });
      expect(make).toThrow(new TypeError("key must be an API key, brk_live_… or brk_test_…"));
    }
    const wrong = ["", "records.example", "ftp://records.example", "https://x?a=1", "https://x#a"];
    for (const url of [...wrong, "https://name:hidden@x", "https://:hidden@x"]) {
      expect(() => client({ url })).toThrow(
        new TypeError("url must be the service's address, https://…, without user, query and fragment"),
      );
    }
    onRequest = () => false;
    for (const url of [` ${proxy.url}/ \n`, new URL(proxy.url)]) await client({ url }).payouts({}, { limit: 1 }).page();
  });
});

describe("a plan", () => {
  const input = (changes: Record<string, unknown> = {}) => ({ ...planInput(changes), campaign_type: "blitz" as const });

  it("is made once, wherever the connection of its response is cut", async () => {
    const planner = await stack.createBrand({ permissions: ["campaigns:prepare"] });
    // The response to the repeated request has a header more, Idempotent-Replayed.
    const length = (await lengthOf((url) => client({ url }).prepareCampaignPlan(input({ title: url })))) - 30;
    const step = Math.ceil(length / 40);
    const cuts = Array.from({ length: 40 }, (_, index) =>
      cutting.urlOf(index % 2 === 0 ? "end" : "reset", Math.min(length - 1, index * step + 1)),
    );
    const prepare = async (url: string): Promise<string> => {
      const { request_id: _, ...rest } = input({ title: url });
      const plan = await client({ url, key: planner.key }).prepareCampaignPlan(rest);
      return plan.plan_id;
    };
    const made = await Promise.all([...new Set(cuts)].map(prepare));
    expect(retries).toHaveLength(made.length);
    expect((await plansOf(planner)).map(({ id }) => id).toSorted()).toEqual(made.toSorted());
  }, 60_000);

  it("is made once through lost responses, 503 and the limit, and by a call that is repeated after all of them failed", async () => {
    const planner = await stack.createBrand({ permissions: ["campaigns:prepare"] });
    const body = input();
    onRequest = async (number, incoming, outgoing) => {
      if (number === 2) return respond(outgoing, 503);
      if (number === 3) return respond(outgoing, 429, { "Retry-After": "1" });
      if (number > 3) return false;
      await forwardUnheard(incoming, planner);
      return outgoing.destroy().destroyed;
    };
    const { request_id: _, ...withoutId } = body;
    const plan = await client({ key: planner.key }).prepareCampaignPlan(withoutId);
    expect(requests).toBe(4);
    onRequest = (number, _, outgoing) => number < 6 && respond(outgoing, 503, { "Retry-After": "1000" });
    const error = await failure(client({ key: planner.key }).prepareCampaignPlan({ ...withoutId, title: "Second" }));
    expect(error).toMatchObject({ status: 503, planRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const again = { ...withoutId, title: "Second", request_id: error.planRequestId };
    const [second, repeated] = [
      await client({ key: planner.key }).prepareCampaignPlan(again),
      await client({ key: planner.key }).prepareCampaignPlan(again),
    ];
    expect(repeated).toEqual(second);
    expect((await plansOf(planner)).map(({ id }) => id).toSorted()).toEqual([plan.plan_id, second.plan_id].toSorted());
  });

  it("is not sent with the key of another brand than is expected, also if that key comes later", async () => {
    const [planner, other] = [
      await stack.createBrand({ permissions: ["campaigns:prepare"] }),
      await stack.createBrand({ permissions: ["campaigns:prepare"] }),
    ];
    let { key } = planner;
    const records = client({ key: () => key, expectBrand: planner.id });
    await records.prepareCampaignPlan(input());
    await records.prepareCampaignPlan(input());
    // One more request, to learn the brand of the key.
    expect(requests).toBe(3);
    ({ key } = other);
    expect(await failure(records.prepareCampaignPlan(input()))).toMatchObject({ code: "wrong_brand", brandId: other.id });
    expect([await plansOf(planner), await plansOf(other)].map(({ length }) => length)).toEqual([2, 0]);
  });
});

/** Returns the bytes of the response to a request of the client. */
async function lengthOf(send: (url: string) => Promise<unknown>): Promise<number> {
  const url = cutting.urlOf("end", 0);
  await send(url);
  retries = [];
  return cutting.lengths.get(new URL(url).pathname) ?? 0;
}

/** Carries out a request whose response never arrives. */
async function forwardUnheard(incoming: IncomingMessage, { key }: TestBrand): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "x-request-id": randomUUID() };
  const response = await fetch(`${stack.url}${incoming.url}`, { method: "POST", headers, body: Buffer.concat(chunks) });
  expect(response.status).toBe(201);
}
