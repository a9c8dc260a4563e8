import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { BrandRecords } from "./brand-records.ts";
import { BrandRecordsError } from "./brand-records-error.ts";
import type { ClientOptions } from "./options.ts";

/** One promise: a call ends in time, with what the service says, and asks no more often than it may. */

const BRAND = "brd_1";
const PLAN = {
  title: "Clips",
  goal: "500,000 views",
  campaign_type: "blitz",
  planned_for: "2026-12-01",
  review_on: "2026-12-15",
  planning_budget: 75_000,
} as const;

let sent: string[];
let userAgents: Set<string | null>;
beforeEach(() => {
  sent = [];
  userAgents = new Set();
});

/** A client of a service that responds as `respond` says; to HEAD without the body, as HTTP has it. */
function client(respond: (url: URL) => Response, options: Partial<ClientOptions> = {}): BrandRecords {
  const fetch = async (input: string | URL | Request, { method, headers: given }: RequestInit = {}): Promise<Response> => {
    const url = new URL(input);
    sent.push(`${method} ${url.pathname}`);
    userAgents.add(new Headers(given).get("User-Agent"));
    const { status, headers, body } = respond(url);
    return new Response(method === "HEAD" ? null : body, { status, headers });
  };
  return new BrandRecords({ url: "https://records.example", key: "brk_live_x", fetch, ...options });
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a plan for an expected brand", () => {
  it.each([
    [401, "invalid_key", {}],
    [403, "permission_required", {}],
    [429, "rate_limited", { "Retry-After": "900" }],
  ])("that is refused with %i before it is sent fails with %s", async (status, code, headers) => {
    const respond = (): Response =>
      Response.json({ error: { code, message: "m" } }, { status, headers: { "X-Brand-Id": BRAND, ...headers } });
    const error = await failure(client(respond, { expectBrand: BRAND }).prepareCampaignPlan(PLAN));
    expect(error).toMatchObject({ code, status, brandId: BRAND, attempts: 1 });
    expect(sent).toEqual(["GET /api/v1/campaigns"]);
  });
});

it("a plan is sent after one request that shows the brand of its key, and after another when the key is another", async () => {
  let key = "brk_live_x";
  let brand = BRAND;
  const respond = (): Response => Response.json({ plan_id: "pln_1" }, { status: 201, headers: { "X-Brand-Id": brand } });
  const records = client(respond, { key: () => key, expectBrand: BRAND });
  await records.prepareCampaignPlan(PLAN);
  await records.prepareCampaignPlan(PLAN);
  expect(sent).toEqual(["GET /api/v1/campaigns", "POST /api/v1/campaign-plans", "POST /api/v1/campaign-plans"]);
  [key, brand] = ["brk_live_y", "brd_2"];
  expect(await failure(records.prepareCampaignPlan(PLAN))).toMatchObject({ code: "wrong_brand", brandId: "brd_2" });
  expect(sent.slice(3)).toEqual(["GET /api/v1/campaigns"]);
});

describe("a key function that does not end", () => {
  const never = (): Promise<string> => new Promise(() => {});

  it("ends the call with its deadline, before anything is sent", async () => {
    const error = await failure(
      client(() => Response.json({}), { key: never, deadlineMs: 1 })
        .payouts()
        .page(),
    );
    expect(error).toBeInstanceOf(BrandRecordsError);
    expect(error).toMatchObject({ code: "no_response", attempts: 0, message: expect.stringContaining("key") });
    expect(sent).toEqual([]);
  });

  it("ends the call also when it is asked again, after a refusal", async () => {
    let calls = 0;
    const key = (): Promise<string> => ((calls += 1) === 1 ? Promise.resolve("brk_live_x") : never());
    const refuse = (): Response => Response.json({ error: { code: "invalid_key", message: "m" } }, { status: 401 });
    const error = await failure(client(refuse, { key, deadlineMs: 2_000 }).prepareCampaignPlan(PLAN));
    expect(error).toMatchObject({ code: "no_response", attempts: 1, planRequestId: expect.any(String) });
    expect(sent).toHaveLength(1);
  });
});

describe("against a server that always refuses", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  const TIMES = [undefined, "1", "0", "120.5", "1e1", "2, 3", "3600.5", "-1", "soon", "2026-11-21"];
  const cases = TIMES.flatMap((time) => [0, 0.999].map((random) => [time, random] as const));

  it.each(cases)(
    "with 429 and Retry-After %j a call asks at most 8 times in 30 s, and to its deadline, if chance is %d",
    async (time, random) => {
      jest.spyOn(Math, "random").mockReturnValue(random);
      const headers = { "X-Brand-Id": BRAND, ...(time !== undefined && { "Retry-After": time }) };
      const pauses: number[] = [];
      const records = client(() => Response.json({ error: { code: "rate_limited", message: "m" } }, { status: 429, headers }), {
        onRetry: ({ delayMs }) => pauses.push(delayMs),
      });
      const error = failure(records.payouts().page());
      await jest.advanceTimersByTimeAsync(30_000);
      expect(sent.length).toBeLessThanOrEqual(8);
      expect(sent.length).toBeGreaterThanOrEqual(5);
      await jest.advanceTimersByTimeAsync(90_000);
      expect(await error).toMatchObject({ code: "rate_limited", attempts: sent.length });
      expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
      expect(Math.max(...pauses)).toBeLessThanOrEqual(time === "1" ? 21_000 : 20_000);
    },
  );

  it.each([
    [429, 0],
    [429, 0.999],
    [503, 0],
  ])("a call waits as long as %d says, and for a pause that grows, if chance is %d", async (status, random) => {
    jest.spyOn(Math, "random").mockReturnValue(random);
    const pauses: number[] = [];
    const refuse = (): Response => new Response("", { status, headers: { "Retry-After": "7" } });
    const error = failure(
      client(refuse, { onRetry: ({ delayMs }) => pauses.push(delayMs) })
        .payouts()
        .page(),
    );
    await jest.advanceTimersByTimeAsync(120_000);
    expect(await error).toMatchObject({ status, retryAfter: 7 });
    expect(pauses.length).toBeGreaterThanOrEqual(6);
    pauses.forEach((delayMs, failures) => expect(delayMs).toBeCloseTo(7_000 + (Math.min(20_000, 500 * 2 ** failures) * (1 + random)) / 2));
  });

  it.each(["3600", "1795227310", "Sat, 21 Nov 2099 08:31:00 GMT"])("a call does not begin to wait past its deadline: %s", async (time) => {
    const refuse = (): Response => new Response("", { status: 503, headers: { "Retry-After": time } });
    expect(await failure(client(refuse).payouts().page())).toMatchObject({ status: 503, attempts: 1 });
  });
});

it("a call fails with what the service said, and not with the request that its deadline cut short", async () => {
  const busy = (): Response => new Response("", { status: 503 });
  const never = new Promise<Response>(() => {});
  const fetch = (): Promise<Response> => (sent.push("") === 1 ? Promise.resolve(busy()) : never);
  // Well after the longest first pause, half a second.
  expect(await failure(client(busy, { fetch, deadlineMs: 2_000 }).payouts().page())).toMatchObject({ status: 503, attempts: 2 });
});

it.each([NaN, 0, -1, "20000", null])("%p is no time: it is refused, and nothing is sent", async (time) => {
  const respond = (): Response => new Response();
  const wrong = time as number;
  expect(() => client(respond, { timeoutMs: wrong })).toThrow(new TypeError("timeoutMs must be a number of milliseconds above 0"));
  const refused = new TypeError("deadlineMs must be a number of milliseconds above 0");
  expect(() => client(respond, { deadlineMs: wrong })).toThrow(refused);
  expect(await failure(client(respond).payouts({}, { deadlineMs: wrong }).page())).toEqual(refused);
  expect(await failure(client(respond).prepareCampaignPlan(PLAN, { deadlineMs: wrong }))).toEqual(refused);
  expect(sent).toEqual([]);
});

it("a time may be Infinity", async () => {
  const options = { timeoutMs: Infinity, deadlineMs: Infinity, key: () => "brk_live_x" };
  expect(
    await failure(
      client(() => new Response("", { status: 404 }), options)
        .payouts()
        .page(),
    ),
  ).toMatchObject({ status: 404 });
});

describe("what no repetition changes", () => {
  const thrown = (message: string, cause?: object): Error => Object.assign(new TypeError(message), { cause });
  const coded = (code: string, message = code): Error => Object.assign(new Error(message), { code });
  const fails = (error: Error) => (): never => {
    throw error;
  };

  // What the runtimes reject with, measured.
  const LASTING: [string, Error, RegExp][] = [
    ["Node.js", thrown("fetch failed", coded("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1")), /listens there/],
    ["Node.js", thrown("fetch failed", Object.assign(new AggregateError([]), { code: "ECONNREFUSED" })), /ECONNREFUSED: .*listens there/],
    ["Node.js", thrown("fetch failed", coded("ENOTFOUND", "getaddrinfo ENOTFOUND x.invalid")), /no such host/],
    ["Node.js", thrown("fetch failed", coded("DEPTH_ZERO_SELF_SIGNED_CERT")), /certificate/],
    ["Node.js", thrown("fetch failed", coded("UNABLE_TO_VERIFY_LEAF_SIGNATURE")), /certificate/],
    ["Node.js", thrown("fetch failed", coded("ERR_TLS_CERT_ALTNAME_INVALID")), /certificate/],
    ["Node.js", thrown("fetch failed", coded("ERR_SSL_WRONG_VERSION_NUMBER")), /no TLS.*http:/],
    ["Bun", coded("ECONNREFUSED", "ECONNREFUSED: Unable to connect."), /listens there/],
    ["Bun", coded("CERT_HAS_EXPIRED", "certificate has expired"), /certificate/],
    ["Bun", coded("EPROTO", "EPROTO: The TLS handshake failed."), /no TLS/],
    [
      "Deno",
      thrown("fetch failed", new Error("client error (Connect): tcp connect error: Connection refused (os error 111)")),
      /listens there/,
    ],
    [
      "Deno",
      thrown("fetch failed", new Error("dns error: failed to lookup address information: Name or service not known")),
      /no such host/,
    ],
    ["Deno", thrown("fetch failed", new Error("client error (Connect): invalid peer certificate: UnknownIssuer")), /certificate/],
    ["Deno", thrown("fetch failed", new Error("received corrupt message of type InvalidContentType")), /no TLS/],
  ];

  it.each(LASTING)("fails at the first request, with what to do: %s, %s", async (_, error, message) => {
    const rejected = await failure(client(fails(error)).payouts().page());
    expect(rejected).toMatchObject({ code: "no_response", attempts: 1, message: expect.stringMatching(message) });
    expect(sent).toHaveLength(1);
  });

  it.each([...LASTING, ["Node.js", thrown("fetch failed", coded("EAI_AGAIN")), /./] as const])(
    "is repeated once the server has responded: %s, %s",
    async (_, error) => {
      const responses = [() => Response.json({ error: { code: "invalid_key" } }, { status: 401 }), fails(error), fails(error)];
      const records = client(() => (responses.shift() ?? fails(error))());
      expect(await failure(records.payouts().page())).toMatchObject({ code: "invalid_key" });
      const rejected = await failure(records.payouts({}, { deadlineMs: 300 }).page());
      expect(rejected).toMatchObject({ code: "no_response", message: expect.not.stringMatching(/no such host|listens there|trusted/) });
      expect((rejected as BrandRecordsError).attempts).toBeGreaterThanOrEqual(1);
    },
  );

  it.each(LASTING)("is repeated after another failure: %s, %s", async (_, error) => {
    const ended = thrown("fetch failed", coded("UND_ERR_SOCKET", "other side closed"));
    const failures = [ended, error];
    const respond = (): Response => {
      const next = failures.shift();
      if (next !== undefined) throw next;
      return Response.json({ resource: "payouts", data: [] }, { headers: { "X-Brand-Id": BRAND } });
    };
    jest.useFakeTimers();
    const page = client(respond).payouts().page();
    await jest.advanceTimersByTimeAsync(1_500);
    jest.useRealTimers();
    expect((await page).data).toEqual([]);
    expect(sent).toHaveLength(3);
  });

  it.each([
    ["speaks TLS", () => Response.json({}), 1, /url must begin with https:/],
    ["speaks TLS, with a certificate that is not trusted", fails(coded("DEPTH_ZERO_SELF_SIGNED_CERT")), 1, /url must begin with https:/],
    ["speaks no TLS either", fails(coded("ERR_SSL_WRONG_VERSION_NUMBER")), 2, /other side closed$/],
  ])("an address that ends connections of HTTP, and %s", async (_, ofTls, attempts, message) => {
    jest.spyOn(Math, "random").mockReturnValue(0);
    const ended = fails(thrown("fetch failed", coded("UND_ERR_SOCKET", "other side closed")));
    const records = client(({ protocol }) => (protocol === "http:" ? ended() : ofTls()), {
      url: "http://records.example",
      deadlineMs: 700,
    });
    const error = await failure(records.payouts().page());
    expect(error).toMatchObject({ code: "no_response", attempts, message: expect.stringMatching(message) });
    expect(sent.filter((request) => request.startsWith("HEAD"))).toEqual(["HEAD /"]);
    jest.restoreAllMocks();
  });
});

it("a request names the package, its version and the runtime, or the program", async () => {
  const { version } = JSON.parse(readFileSync("clients/client/package.json", "utf8")) as { version: string };
  const respond = (): Response => Response.json({ resource: "payouts", data: [] }, { headers: { "X-Brand-Id": BRAND } });
  await client(respond).payouts().page();
  await client(respond, { userAgent: "nightly-copy/2.1" }).payouts().page();
  const runtime = `(Node.js/${process.versions.node.split(".")[0]})`;
  expect([...userAgents]).toEqual([`brand-records-client/${version} ${runtime}`, `nightly-copy/2.1 ${runtime}`]);
});

describe("the signal of a call", () => {
  const reason = new Error("enough");
  const whole = (): Response => Response.json({ resource: "payouts", data: [] }, { headers: { "X-Brand-Id": BRAND } });
  const endless = (onRead: () => void): Response =>
    new Response(new ReadableStream({ pull: onRead }, { highWaterMark: 0 }), { headers: { "X-Brand-Id": BRAND } });

  it.each<[when: string, requests: number, ends: (abort: () => void) => [respond: () => Response, options: Partial<ClientOptions>]]>([
    ["before it", 0, (abort) => [(abort(), whole), {}]],
    ["while it waits for a key", 0, (abort) => [whole, { key: () => (abort(), new Promise(() => {})) }]],
    ["on its way", 1, (abort) => [() => (abort(), whole()), {}]],
    ["within a body", 1, (abort) => [() => endless(abort), {}]],
    [
      "between two attempts",
      1,
      (abort) => [() => new Response("", { status: 503, headers: { "Retry-After": "100" } }), { onRetry: abort }],
    ],
  ])("ends it with its reason %s", async (_, requests, ends) => {
    const controller = new AbortController();
    const [respond, options] = ends(() => controller.abort(reason));
    expect(await failure(client(respond, options).payouts({}, { signal: controller.signal }).page())).toBe(reason);
    expect(sent).toHaveLength(requests);
  });
});

it("a record keeps fields and values of later versions, and the largest amount", async () => {
  const payout = { id: "po_1", status: "frozen", mood: { score: 7 }, amount_centavos: Number.MAX_SAFE_INTEGER };
  const body = { resource: "payouts", data: [payout], later: true };
  const { data } = await client(() => Response.json(body, { headers: { "X-Brand-Id": BRAND } }))
    .payouts()
    .page();
  expect(data).toEqual([payout]);
});

it("a key shows in no error and no log, and what is none is refused", async () => {
  const key = `brk_live_${"k".repeat(36)}`;
  const records = client(() => new Response("", { status: 404 }), { key });
  expect(inspect([records, records.payouts(), await failure(records.payouts().page())], { depth: 9, showHidden: true })).not.toContain(
    "kkk",
  );
  for (const wrong of ["", " ", "two words", `${key}\nx`, "brk–live", undefined]) {
    expect(() => client(() => new Response(), { key: wrong })).toThrow(new TypeError("key must be an API key, brk_live_… or brk_test_…"));
  }
  const addresses = [
    "",
    "records.example",
    "ftp://records.example",
    "https://x?a=1",
    "https://x#a",
    "https://name:hidden@x",
    "https://:hidden@x",
  ];
  for (const url of addresses) {
    const words = "url must be the service's address, https://…, without user, query and fragment";
    expect(() => client(() => new Response(), { url })).toThrow(new TypeError(words));
  }
});

it.each([" https://records.example/ \n", new URL("https://records.example"), "https://records.example/below/"])(
  "%s is an address",
  async (url) => {
    await failure(
      client(() => new Response("", { status: 404 }), { url })
        .payouts()
        .page(),
    );
    expect(sent).toEqual([`GET ${String(url).includes("below") ? "/below" : ""}/api/v1/payouts`]);
  },
);
