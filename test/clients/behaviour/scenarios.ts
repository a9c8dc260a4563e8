import { RESOURCES, type ResourceName } from "@brand-records/resources";
import { planInput } from "../../plan-input.ts";
import type { Ability, Ask, Output } from "./drivers.ts";
import type { Received, Reply, Script } from "./scripted-server.ts";

/** What a client does when a server behaves so. It reads a list of payouts, unless the ask says otherwise. */
export interface Scenario {
  readonly name: string;
  readonly needs?: readonly Ability[];
  readonly script: Script;
  readonly ask?: Partial<Ask>;
  /** What it reports. */
  readonly output: { readonly ids?: readonly string[]; readonly plan_id?: string; readonly error?: object };
  /** How many requests the server gets. */
  readonly requests: number;
  /** Least and most milliseconds of each pause. */
  readonly pauses?: readonly (readonly [least: number, most: number])[];
  readonly judge?: (received: readonly Received[], output: Output) => void;
}

const letters = (letter: string): string => `brk_live_${letter.repeat(36)}`;
export const KEY = letters("a");
export const BRAND = "brd_01k1sem520ecxthczqg3ryfxme";
export const OTHER_BRAND = "brd_01k1sem520ecxthczqg3ryfxmf";
export const PLAN_ID = "pln_01k1sem520ecxthczqg3ryfxme";

const ofBrand = (brand: string | undefined, more: Readonly<Record<string, string>> = {}) => ({
  "Content-Type": "application/json",
  "X-Request-Id": "request-1",
  ...(brand !== undefined && { "X-Brand-Id": brand }),
  ...more,
});

/** A page of a list. Records are whole, with these ids. */
export function page(
  ids: readonly string[],
  next_cursor?: string,
  resource: ResourceName = "payouts",
  brand: string | undefined = BRAND,
): Reply {
  const data = ids.map((id) => ({ ...RESOURCES[resource].example, id }));
  return { headers: ofBrand(brand), body: { resource, count: data.length, data, ...(next_cursor !== undefined && { next_cursor }) } };
}

const FIRST = page(["po_1", "po_2"], "second");
const LAST = page(["po_3"]);
const IDS = ["po_1", "po_2", "po_3"];

/** A refusal as the service words it. */
export const refusal = (status: number, code: string, headers: Readonly<Record<string, string>> = {}, more: object = {}): Reply => ({
  status,
  headers: ofBrand(BRAND, headers),
  body: { error: { code, message: `this is ${code}`, request_id: "request-1", ...more } },
});

const limited = (time?: string): Reply => refusal(429, "rate_limited", time === undefined ? {} : { "Retry-After": time });
const html = (status: number, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { "Content-Type": "text/html", ...headers },
  body: "<!doctype html><title>Sign in</title>",
});

/** A growing pause, by the failures before it. */
const pause = (failures: number, seconds = 0): [number, number] => {
  const ceiling = Math.min(20_000, 500 * 2 ** failures);
  return [seconds * 1_000 + ceiling / 2, seconds * 1_000 + ceiling];
};

export const plan = (): Record<string, unknown> => {
  const { request_id: _, ...input } = planInput();
  return input;
};
export const prepared = (status: number, plan_id = PLAN_ID): Reply => ({
  status,
  headers: ofBrand(BRAND),
  body: { plan_id, request_id: "any", status: "pending", title: "Any", review_path: `/workspaces/blitz/plans/${plan_id}`, warnings: [] },
});

const passing = (name: string, failed: Reply, error?: object): Scenario => ({
  name: `${name} is repeated`,
  script: [failed, FIRST, LAST],
  output: { ids: IDS },
  requests: 3,
  pauses: [pause(0)],
  ...error,
});

const lasting = (name: string, reply: Reply, error: object): Scenario => ({
  name: `${name} is not repeated`,
  script: [reply],
  output: { ids: [], error: { attempts: 1, ...error } },
  requests: 1,
  pauses: [],
});

/** The service's clock is a day behind, and its times count from its own. */
const DATE = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 86_400_000);
const LATER = new Date(DATE.getTime() + 2_000).toUTCString();
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const [day = "", month = "", year = "", time = ""] = LATER.split(" ").slice(1);
const FORMS: [name: string, text: string][] = [
  ["IMF-fixdate", LATER],
  ["RFC 850", `${DAYS[new Date(LATER).getUTCDay()]}, ${day}-${month}-${year.slice(2)} ${time} GMT`],
  ["asctime", `${LATER.slice(0, 3)} ${month} ${day.replace(/^0/, " ")} ${time} ${year}`],
];

const LIMITS: Scenario[] = [
  {
    name: "429 without a time grows the pause",
    script: [limited(), limited(), limited(), FIRST, LAST],
    output: { ids: IDS },
    requests: 5,
    pauses: [pause(0), pause(1), pause(2)],
  },
  ...["120.5", "1e1", "2, 3", "3600.5", "-1", "soon", "0x10", "2026-11-21T08:31:00Z", "0"].map((time): Scenario => ({
    name: `429 with Retry-After ${time} has no time`,
    script: [limited(time), LAST],
    output: { ids: ["po_3"] },
    requests: 2,
    pauses: [pause(0)],
  })),
  {
    name: "429 and 503 with a time are waited out, and the pause beyond it grows",
    script: [limited("1"), limited("1"), refusal(503, "unavailable", { "Retry-After": "1" }), FIRST, LAST],
    output: { ids: IDS },
    requests: 5,
    pauses: [pause(0, 1), pause(1, 1), pause(2, 1)],
  },
  ...FORMS.map(([name, time]): Scenario => ({
    name: `a time as ${name} counts from the response's own date, a day off`,
    script: [refusal(429, "rate_limited", { "Retry-After": time, Date: DATE.toUTCString() }), LAST],
    output: { ids: ["po_3"] },
    requests: 2,
    pauses: [pause(0, 2)],
  })),
  {
    name: "a time that is past is none",
    script: [refusal(429, "rate_limited", { "Retry-After": DATE.toUTCString() }), LAST],
    output: { ids: ["po_3"] },
    requests: 2,
    pauses: [pause(0)],
  },
  ...[
    ["3600", 3_600],
    ["1795227310", 86_400],
    ["9".repeat(40), 86_400],
  ].map(([time, retry_after]): Scenario =>
    lasting(`a wait of ${time} seconds, for which the deadline has no time,`, limited(String(time)), {
      code: "rate_limited",
      status: 429,
      retry_after,
      request_id: "request-1",
    }),
  ),
  {
    name: "a storm of 429 ends at the deadline, after few requests",
    script: [limited()],
    ask: { deadline_ms: 3_000 },
    output: { ids: [], error: { code: "rate_limited", status: 429 } },
    // The pauses have at least 0.25, 0.5 and 1 s, the next would be 2.
    requests: 4,
    judge: (received) => expect(received.length).toBeGreaterThanOrEqual(2),
  },
];

const FAILURES: Scenario[] = [
  passing("500", refusal(500, "internal_error")),
  passing("502 of a proxy, in HTML,", html(502)),
  passing("503 without a time", refusal(503, "unavailable")),
  passing("504", refusal(504, "timeout")),
  passing("408", html(408)),
  passing("HTML with the header of the service", html(200, { "X-Brand-Id": BRAND })),
  passing("the page of another list", page(["lnk_1"], undefined, "links")),
  passing("an object that is no page", { headers: ofBrand(BRAND), body: { resource: "payouts", data: {} } }),
  lasting("400", refusal(400, "invalid_parameter", {}, { field: "status" }), {
    code: "invalid_parameter",
    status: 400,
    field: "status",
    request_id: "request-1",
  }),
  lasting("403", refusal(403, "plan_required"), { code: "plan_required", status: 403 }),
  lasting("404 of another server", html(404), { code: "unexpected_response", status: 404 }),
  lasting("HTML in place of JSON", html(200), { code: "unexpected_response", status: 200 }),
  lasting(
    "JSON of another service",
    { headers: { "Content-Type": "application/json" }, body: { hello: 1 } },
    { code: "unexpected_response", status: 200 },
  ),
  lasting("401 with the same key", refusal(401, "invalid_key"), { code: "invalid_key", status: 401 }),
  {
    name: "a response that stalls is asked for again, whether in its head or in its body",
    script: [{ ...FIRST, cut: { after: 20, by: "stall" } }, { ...FIRST, cut: { after: 300, by: "stall" } }, LAST],
    // A response that comes must come in time, on a busy machine, too.
    ask: { timeout_ms: 2_000 },
    output: { ids: ["po_3"] },
    requests: 3,
    pauses: [pause(0), pause(1)],
  },
  {
    name: "stalls end at the deadline",
    script: [{ ...FIRST, cut: { after: 0, by: "stall" } }],
    ask: { timeout_ms: 300, deadline_ms: 1_500 },
    output: { ids: [], error: { code: "no_response" } },
    requests: 3,
    judge: (_, { retries }) => expect(retries.length).toBeGreaterThan(0),
  },
  {
    name: "a server that is restarted is asked again",
    script: [{ ...FIRST, thenDownMs: 600 }, LAST],
    output: { ids: IDS },
    requests: 2,
    judge: (_, { retries }) => expect(retries.length).toBeGreaterThan(0),
  },
  {
    name: "a server that ends the first connection, and refuses others until it is restarted, is asked again",
    script: [{ ...FIRST, cut: { after: 0, by: "end" }, thenDownMs: 1_200 }, FIRST, LAST],
    output: { ids: IDS },
    requests: 3,
    judge: (_, { retries }) => expect(retries.length).toBeGreaterThan(1),
  },
];

const KEYS = ["b", "c", "d", "e", "f", "g", "h"].map(letters);

const KEYS_AND_BRANDS: Scenario[] = [
  {
    name: "another brand in the middle of a walk is refused",
    script: [FIRST, page(["po_9"], undefined, "payouts", OTHER_BRAND)],
    output: { ids: ["po_1", "po_2"], error: { code: "wrong_brand" } },
    requests: 2,
    pauses: [],
  },
  {
    name: "another brand in the middle is named before its limit",
    script: [FIRST, { ...limited("1"), headers: ofBrand(OTHER_BRAND, { "Retry-After": "1" }) }],
    output: { ids: ["po_1", "po_2"], error: { code: "wrong_brand" } },
    requests: 2,
    pauses: [],
  },
  {
    name: "a brand that is not the expected one is refused",
    needs: ["expect_brand"],
    script: [FIRST],
    ask: { expect_brand: OTHER_BRAND },
    output: { ids: [], error: { code: "wrong_brand" } },
    requests: 1,
  },
  {
    name: "a plan is not sent with the key of another brand than is expected",
    needs: ["expect_brand"],
    script: [page(["cmp_1"], undefined, "campaigns")],
    ask: { action: "prepare", plan: plan(), expect_brand: OTHER_BRAND },
    output: { error: { code: "wrong_brand" } },
    requests: 1,
    judge: ([first]) => expect(first?.line).toMatch(/^GET /),
  },
  {
    name: "a key that was revoked in the middle of a walk is replaced",
    needs: ["keys"],
    script: replacedKey(),
    ask: { keys: KEYS },
    output: { ids: IDS },
    requests: 3,
    pauses: [],
    judge: ([, refused, repeated]) => expect(repeated?.key).not.toBe(refused?.key),
  },
  {
    name: "a key is asked for once more, although each time it is another",
    needs: ["keys"],
    script: [refusal(401, "invalid_key")],
    ask: { keys: KEYS },
    output: { ids: [], error: { code: "invalid_key", attempts: 2 } },
    requests: 2,
    pauses: [],
  },
];

/** The second request is refused, and its key from then on. */
function replacedKey(): Script {
  let revoked: string | undefined;
  return ({ key }, number) => {
    if (number === 2) revoked = key;
    if (key === revoked) return refusal(401, "invalid_key");
    return number === 1 ? FIRST : LAST;
  };
}

const LISTS: Scenario[] = [
  {
    name: "a walk reads page after page, by the cursor, with its filters, and names its program",
    script: [FIRST, LAST],
    ask: { filters: { status: "paid", created_from: "2026-10-01T00:00:00+08:00" } },
    output: { ids: IDS },
    requests: 2,
    pauses: [],
    judge([first, second]) {
      const filters = { status: "paid", created_from: "2026-10-01T00:00:00+08:00" };
      expect(first).toMatchObject({ line: "GET /api/v1/payouts", key: KEY, query: filters });
      expect(first?.query).not.toHaveProperty("cursor");
      expect(second?.query).toEqual({ ...first?.query, cursor: "second" });
      expect(first?.userAgent).toMatch(/^brand-records-(client|python|cli)\/\d+\.\d+\.\d+ \([\w.]+\/[\w.]+\)$/);
    },
  },
  {
    name: "a page has as many records as are asked for",
    needs: ["limit"],
    script: [LAST],
    ask: { limit: 7 },
    output: { ids: ["po_3"] },
    requests: 1,
    judge: ([first]) => expect(first?.query["limit"]).toBe("7"),
  },
  { name: "a list may be empty", script: [page([])], output: { ids: [] }, requests: 1 },
];

const isOnePlan = (received: readonly Received[]): void =>
  expect(new Set(received.map(({ line, body }) => `${line} ${body}`)).size).toBe(1);
const REQUEST_ID = "0f6d1a2e-8a52-4f0e-9f5c-2f6f1d0c7a11";

const PLANS: Scenario[] = [
  {
    name: "a plan is sent again with the same bytes, through lost responses, 503 and the limit",
    script: [
      { ...prepared(201), cut: { after: 90, by: "end" } },
      { ...prepared(201), cut: { after: 250, by: "reset" } },
      refusal(503, "unavailable"),
      limited("1"),
      prepared(200),
    ],
    ask: { action: "prepare", plan: plan() },
    output: { plan_id: PLAN_ID },
    requests: 5,
    judge(received) {
      isOnePlan(received);
      expect(JSON.parse(received[0]?.body ?? "")).toMatchObject({ ...plan(), request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    },
  },
  {
    name: "a plan that is not prepared in time leaves its request_id",
    script: [refusal(503, "unavailable", { "Retry-After": "1" }), refusal(503, "unavailable", { "Retry-After": "1000" })],
    ask: { action: "prepare", plan: { ...plan(), request_id: REQUEST_ID } },
    output: { error: { code: "unavailable", retry_after: 1_000, plan_request_id: REQUEST_ID } },
    requests: 2,
    judge: isOnePlan,
  },
  {
    name: "a plan that is refused is not sent again",
    script: [refusal(409, "request_conflict")],
    ask: { action: "prepare", plan: { ...plan(), request_id: REQUEST_ID } },
    output: { error: { code: "request_conflict", status: 409 } },
    requests: 1,
  },
];

export const SCENARIOS: readonly Scenario[] = [...LISTS, ...LIMITS, ...FAILURES, ...KEYS_AND_BRANDS, ...PLANS];
