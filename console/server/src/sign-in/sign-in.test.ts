import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { eventually } from "@brand-records/testkit";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { parseConfig } from "../config.ts";
import { createApp } from "../http/app.ts";
import type { Services } from "../services.ts";

/** One promise: no web page, and no number of sign-ins at the same time, keeps the people behind an address from signing in. */

const LIMIT = 3;
const OWN_PAGE = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
const OTHER_SITE = { ...OWN_PAGE, "sec-fetch-site": "cross-site" };
const CALL = { "sec-fetch-site": "same-origin", "content-type": "application/json" };
const REDEEM = "/console/api/sign_in.redeem";

let provider: Server;
/** Codes that the provider was asked to exchange. */
let codes = 0;
let redeem: jest.Mock;
let server: Server;
let host: string;

const portOf = (of: Server): number => (of.address() as AddressInfo).port;

beforeAll(async () => {
  provider = createServer((incoming, response) => {
    response.setHeader("content-type", "application/json");
    if (incoming.method === "POST") {
      codes += 1;
      return void response.writeHead(400).end('{"error":"invalid_grant"}');
    }
    const issuer = `http://127.0.0.1:${portOf(provider)}`;
    response.end(JSON.stringify({ issuer, authorization_endpoint: `${issuer}/sign-in`, token_endpoint: `${issuer}/token` }));
  });
  await once(provider.listen(0, "127.0.0.1"), "listening");
});
beforeEach(() => start(LIMIT));
afterEach(() => stop());
afterAll(() => void provider.close());

async function start(signInsPerAddress: number): Promise<void> {
  codes = 0;
  redeem = jest.fn().mockResolvedValue({ session: { token: "t", email: "nena@example.ph" } });
  server = createServer((incoming, response) => app(incoming, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  host = `localhost:${portOf(server)}`;
  const app = createApp({
    config: parseConfig({
      ACCOUNTS_ADDRESS: "accounts:7000",
      PLANS_ADDRESS: "plans:7000",
      WEBHOOK_ADDRESS: "webhook:7000",
      OIDC_ISSUER: `http://127.0.0.1:${portOf(provider)}`,
      OIDC_CLIENT_ID: "console",
      OIDC_CLIENT_SECRET: "0123456789abcdef",
      PUBLIC_URL: `http://${host}`,
      SIGN_IN_LINKS: "true",
      SIGN_INS_PER_ADDRESS: String(signInsPerAddress),
    }),
    services: { signIn: { redeemSignInLink: redeem } } as unknown as Services,
    web: { pageAt: () => "", assets: new Map() },
    log: openLog("console", "silent"),
    metrics: openMetrics("console"),
    isStopping: () => false,
  });
}

async function stop(): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

interface Answer {
  readonly status: number | undefined;
  readonly location: URL;
  /** Name and value of each cookie that is set or cleared. */
  readonly cookies: readonly string[];
  readonly body: string;
}

/** Sends a request by node:http: `fetch` would add its own Sec-Fetch-Mode. */
async function send(path: string, headers: Record<string, string>, body?: object): Promise<Answer> {
  const sent = request(`http://127.0.0.1:${portOf(server)}${path}`, { method: body ? "POST" : "GET", headers: { ...headers, host } });
  sent.end(body && JSON.stringify(body));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const { statusCode: status, headers: received } = response;
  const cookies = (received["set-cookie"] ?? []).map((line) => line.slice(0, line.indexOf(";")));
  return { status, location: new URL(received.location ?? "", `http://${host}`), cookies, body: await text(response) };
}

const times = <T>(count: number, each: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => each(n)));
const begin = (headers: Record<string, string>, path = "/auth/sign-in"): Promise<Answer> => send(path, headers);
const isLimited = ({ location }: Answer): boolean => location.searchParams.get("error") === "rate_limited";
const finish = (attempt: Answer): Promise<Answer> =>
  send(`/auth/callback?code=x&state=${attempt.location.searchParams.get("state")}`, { ...OTHER_SITE, cookie: attempt.cookies.join("; ") });

it.each<[string, Record<string, string>]>([
  ["an image", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }],
  ["a frame", { ...OTHER_SITE, "sec-fetch-dest": "iframe" }],
  ["a script's request", { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" }],
  ["a prefetch", { ...OTHER_SITE, "sec-purpose": "prefetch" }],
])("%s spends nothing and begins nothing, nor finishes it", async (_, headers) => {
  const attempt = await begin(OWN_PAGE);
  for (const path of ["/auth/sign-in", `/auth/callback?code=x&state=${attempt.location.searchParams.get("state")}`]) {
    for (const { status, cookies } of await times(2 * LIMIT, () => send(path, { ...headers, cookie: attempt.cookies.join("; ") }))) {
      expect([path, status, cookies]).toEqual([path, 403, []]);
    }
  }
  expect(isLimited(await begin(OWN_PAGE))).toBe(false);
  await finish(attempt);
  expect(codes).toBe(1);
});

it("what other sites open in tabs is bounded apart from what people begin on the own page, and so is what either finishes", async () => {
  const own = await begin(OWN_PAGE);
  const opened = [
    ...(await times(2 * LIMIT, () => begin(OTHER_SITE))),
    // Browsers that do not say where a request comes from.
    await begin({}),
  ];
  const begun = opened.filter((each) => !isLimited(each));
  expect(begun).toHaveLength(LIMIT);
  await times(2 * LIMIT, () => send("/auth/callback?code=x&state=y", OTHER_SITE));
  expect((await times(LIMIT - 1, () => begin(OWN_PAGE))).filter(isLimited)).toEqual([]);
  for (const attempt of [...begun, ...begun]) await finish(attempt);
  expect(codes).toBe(LIMIT);
  await finish(own);
  expect(codes).toBe(LIMIT + 1);
});

it("a link is redeemed however many sign-ins at the provider were begun and finished; both are bounded", async () => {
  const attempts = await times(LIMIT, () => begin(OWN_PAGE));
  expect(isLimited(await begin({ ...OWN_PAGE, "sec-fetch-site": "none" }))).toBe(true);
  for (const attempt of [...attempts, ...attempts]) await finish(attempt);
  expect(codes).toBe(LIMIT);
  const redeemed = await times(LIMIT + 1, () => send(REDEEM, CALL, { token: "t".repeat(43) }));
  expect(redeemed.filter(({ status }) => status === 200)).toHaveLength(LIMIT);
  expect(redeemed.filter(({ status }) => status === 429)).toHaveLength(1);
  expect(redeem).toHaveBeenCalledTimes(LIMIT);
});

describe("attempts of one browser", () => {
  beforeEach(async () => {
    await stop();
    await start(100);
  });

  /** Applies what a response sets to the cookies of a browser. */
  const keep = (kept: Map<string, string>, { cookies }: Answer): void => {
    for (const pair of cookies) {
      const [name = "", value = ""] = pair.split("=");
      if (value === "") kept.delete(name);
      else kept.set(name, value);
    }
  };
  const header = (kept: Map<string, string>): string => [...kept].map((pair) => pair.join("=")).join("; ");
  /** The longest path that is kept has 500 characters. */
  const beginFor = (characters: number, cookie: string): Promise<Answer> =>
    begin({ cookie }, `/auth/sign-in?${new URLSearchParams({ return_to: "/developers?".padEnd(characters, "x") }).toString()}`);

  it("take six cookies and 6.7 KB at most, though twenty begin at the same time and none sees another", async () => {
    const kept = new Map<string, string>();
    for (const characters of [500, 1_500, 500]) {
      const cookie = header(kept);
      for (const answer of await times(20, () => beginFor(characters, cookie))) keep(kept, answer);
      expect(kept.size).toBeLessThanOrEqual(6);
      expect(header(kept).length).toBeLessThan(6_700);
    }
  });

  it("are each finished while they are six; one more takes the place of the oldest", async () => {
    const kept = new Map<string, string>();
    const begun: Answer[] = [];
    for (let n = 0; n < 7; n += 1) {
      const answer = await beginFor(100, header(kept));
      keep(kept, answer);
      begun.push(answer);
      // No two are of the same millisecond.
      const now = Date.now();
      await eventually(() => expect(Date.now()).toBeGreaterThan(now));
    }
    expect(kept.size).toBe(6);
    for (const { location } of begun) {
      const finished = await send(`/auth/callback?code=x&state=${location.searchParams.get("state")}`, { cookie: header(kept) });
      keep(kept, finished);
    }
    expect([codes, kept.size]).toEqual([6, 0]);
  });
});
