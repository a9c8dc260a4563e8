import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signDelivery } from "@brand-records/client/signing";
import { CertificateAuthority, type IssuedCertificate } from "@brand-records/testkit";
import { drive, DRIVERS, PREPARE_MS_MAX, prepareDrivers, type Ability, type Driver } from "./drivers.ts";
import { run, type Run } from "./run-scripted.ts";
import { BRAND, KEY, OTHER_BRAND, page, plan, PLAN_ID, prepared, refusal, SCENARIOS, type Scenario } from "./scenarios.ts";
import { lengthOf, ScriptedServer, type Received, type Reply, type Script } from "./scripted-server.ts";

/** One promise: what one language's client does, the other's and the command line do. Drivers of each run the same scenarios. */

/** Timers may end this much early, and clocks be read late. */
const TIMER_MS = 5;
const LISTS: readonly string[] = ["campaigns", "submissions", "payouts", "deposits", "conversions", "links"];

let folder: string;
let certificate: IssuedCertificate;
beforeAll(async () => {
  await prepareDrivers();
  folder = await mkdtemp(join(tmpdir(), "behaviour-"));
  certificate = new CertificateAuthority(folder).issue("service", { names: ["IP:127.0.0.1"] });
}, PREPARE_MS_MAX);
afterAll(() => rm(folder, { recursive: true }));

/** Leaves out what a driver has no words for. */
const known = (error: object, { lacks }: Driver): object =>
  Object.fromEntries(Object.entries(error).filter(([name]) => !lacks.includes(name as Ability)));

describe.each(DRIVERS)("$name", (driver) => {
  const can = ({ needs = [] }: { readonly needs?: readonly Ability[] }): boolean =>
    !needs.some((ability) => driver.lacks.includes(ability));

  it.concurrent.each(SCENARIOS.filter(can))("$name", async ({ script, ask, output: expected, requests, pauses, judge }: Scenario) => {
    const { output, received } = await run(driver, script, ask);
    const error = expected.error === undefined ? null : expect.objectContaining(known(expected.error, driver));
    expect(output).toMatchObject({ ...expected, error });
    // A wait may leave the last request no time.
    if (pauses === undefined && expected.error !== undefined) expect(received.length).toBeLessThanOrEqual(requests);
    else expect(received).toHaveLength(requests);
    const delays = output.retries.map(({ delay_ms }) => delay_ms);
    if (pauses !== undefined) expect(delays).toEqual(pauses.map(() => expect.any(Number)));
    pauses?.forEach(([least, most], index) => {
      expect(delays[index]).toBeGreaterThanOrEqual(least);
      expect(delays[index]).toBeLessThanOrEqual(most);
      expect((received[index + 1]?.at ?? 0) - (received[index]?.at ?? 0)).toBeGreaterThanOrEqual(least - TIMER_MS);
    });
    judge?.(received, output);
  });

  it.concurrent("a walk has every record once, at whichever byte a response is cut", async () => {
    const id = (number: number): string => `po_${String(number).padStart(3, "0")}`;
    const bare = (number: number, last: boolean): Reply => ({
      headers: { "X-Brand-Id": BRAND },
      body: {
        resource: "payouts",
        count: 1,
        data: [{ id: id(number) }],
        ...(!last && { next_cursor: String(number + 1).padStart(3, "0") }),
      },
    });
    const bytes = lengthOf(bare(0, false));
    const walks = 12;
    const pagesOfWalk = Math.ceil(bytes / walks);
    // The first page comes whole: before it, a lost connection may be a wrong scheme. Each of the others is cut once, at a byte of its own.
    const walk = async (_: unknown, index: number): Promise<void> => {
      const cut = new Set<string>();
      const script = ({ query: { cursor = "000" } }: Received): Reply => {
        const number = Number(cursor);
        const reply = bare(number, number === pagesOfWalk);
        const by = number % 2 === 0 ? "end" : "reset";
        const cutReply = { ...reply, cut: { after: index * pagesOfWalk + number - 1, by } } as const;
        if (number === 0 || cut.has(cursor) || cutReply.cut.after >= lengthOf(cutReply)) return reply;
        cut.add(cursor);
        return cutReply;
      };
      const { output, received } = await run(driver, script);
      expect(output).toMatchObject({ error: null, ids: Array.from({ length: pagesOfWalk + 1 }, (_, number) => id(number)) });
      expect(received).toHaveLength(1 + pagesOfWalk + cut.size);
    };
    await Promise.all(Array.from({ length: walks }, walk));
  });

  it.concurrent("a plan is sent again with the same bytes, at whichever part its response is cut", async () => {
    const last = lengthOf({ ...prepared(201), cut: { after: 0, by: "end" } }) - 1;
    const prepare = async (after: number): Promise<void> => {
      const script: Script = [refusal(503, "unavailable"), { ...prepared(201), cut: { after, by: "end" } }, prepared(200)];
      const { output, received } = await run(driver, script, { action: "prepare", plan: plan() });
      expect(output).toMatchObject({ plan_id: PLAN_ID, error: null });
      expect(received.map(({ body }) => body)).toEqual(Array.from({ length: 3 }, () => received[0]?.body));
    };
    await Promise.all([0, last / 4, last / 2, (last * 3) / 4, last].map((after) => prepare(Math.floor(after))));
  });

  it.concurrent("a redirect is not followed: its target gets no request, and no key", async () => {
    const target = await ScriptedServer.start([page(["po_1"])]);
    try {
      for (const status of [301, 302, 307, 308]) {
        const { output, received } = await run(driver, [{ status, headers: { Location: `${target.url()}/api/v1/payouts` } }]);
        expect(output.error).toMatchObject(known({ code: "unexpected_response", status, attempts: 1 }, driver));
        expect(output.error?.message).toContain(target.url());
        expect(received).toHaveLength(1);
      }
      expect(target.received).toEqual([]);
    } finally {
      await target.stop();
    }
  });

  /** Fails at the first request, with words that help. No key is sent, also where a client asks which scheme is right. */
  const expectLasting = ({ output, received }: Run, words: RegExp): void => {
    expect(output).toMatchObject({ ids: [], retries: [], error: known({ code: "no_response", attempts: 1 }, driver) });
    expect(output.error?.message).toMatch(words);
    expect(received.filter(({ key }) => key !== "")).toEqual([]);
  };

  it.concurrent("what no repetition changes fails at the first request: a refused connection", async () => {
    const server = await ScriptedServer.start([]);
    const url = server.url();
    await server.stop();
    expectLasting(await run(driver, [], { url }), /refused|listens/i);
  });

  it.concurrent("… a certificate that is not trusted", async () => {
    expectLasting(await run(driver, [page([])], {}, { certificate }), /certificate/i);
  });

  it.concurrent("… https to a server of http, and http to one of https", async () => {
    expectLasting(await run(driver, [page([])], {}, { scheme: "https" }), /http:|TLS|SSL/i);
    expectLasting(await run(driver, [page([])], {}, { certificate, scheme: "http" }), /https/i);
  });

  /** Lists of one page, two records each, but the payouts: they have three pages. */
  const lists =
    (brand = BRAND, headers: Readonly<Record<string, string>> = {}): Script =>
    ({ line, query: { cursor = "1" } }) => {
      const resource = line.split("/").at(-1) as "payouts";
      const next = resource === "payouts" && cursor !== "3" ? String(Number(cursor) + 1) : undefined;
      const reply = page([`${resource}_${cursor}a`, `${resource}_${cursor}b`], next, resource, brand);
      return { ...reply, headers: { ...reply.headers, ...headers } };
    };
  const ALL = LISTS.flatMap((name) =>
    (name === "payouts" ? ["1", "2", "3"] : ["1"]).flatMap((number) => [`${name}_${number}a`, `${name}_${number}b`]),
  );
  const sorted = (ids: readonly string[]): readonly string[] => ids.toSorted();

  if (can({ needs: ["sync"] })) {
    it.concurrent("sync copies every list, and leaves the brand's other programs half of the limit", async () => {
      const script = lists(BRAND, { "RateLimit-Policy": '"brand";q=4;w=1', RateLimit: '"brand";r=3;t=1' });
      const { output, received } = await run(driver, script, { action: "sync", db: join(folder, `${driver.name}-half`) });
      expect(output.error).toBeNull();
      expect(sorted(output.ids)).toEqual(sorted(ALL));
      expect(received.map(({ line }) => line)).toHaveLength(8);
      const spans = received.slice(2).map(({ at }, index) => at - (received[index]?.at ?? 0));
      for (const milliseconds of spans) expect(milliseconds).toBeGreaterThanOrEqual(900);
    });

    it.concurrent("sync goes on where it was interrupted, and refuses another brand's key", async () => {
      const db = join(folder, `${driver.name}-resumed`);
      const whole = lists();
      const failing: Script = (request, number) =>
        number === 5 ? refusal(403, "plan_required") : typeof whole === "function" ? whole(request, number) : {};
      const first = await run(driver, failing, { action: "sync", db });
      expect(first.output.error).toMatchObject({ code: "plan_required" });
      const other = await run(driver, lists(OTHER_BRAND), { action: "sync", db });
      expect(other.output.error).toMatchObject({ code: "wrong_brand" });
      const second = await run(driver, whole, { action: "sync", db });
      expect(second.output.error).toBeNull();
      expect(second.received.map(({ line, query }) => [line, query["cursor"]])).toHaveLength(4);
      expect(second.received[0]?.query["cursor"]).toBe("3");
      expect(sorted([...new Set([...first.output.ids, ...second.output.ids])])).toEqual(sorted(ALL));
    });
  }

  describe("verifies a delivery", () => {
    const [SECRET, NEXT] = ["A", "B"].map((letter) => `whsec_${letter.repeat(43)}=`) as [string, string];
    const NOW = 1_795_227_310;
    const BODY = '{"id":"evt_1","type":"payout.paid","data":{"id":"po_1"}}';
    type Headers = Record<string, string>;
    const sign = (body = BODY, timestamp = NOW, secret = SECRET): Promise<Headers> =>
      signDelivery(body, secret, { timestamp, id: "evt_1", type: "payout.paid" });
    const without = (headers: Headers, ...names: string[]): Headers =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
    const OWN = ["X-Service-Signature", "X-Service-Timestamp", "X-Service-Event"];
    const STANDARD = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    const flipped = (text: string): string => text.slice(0, -1) + (text.endsWith("0") ? "1" : "0");

    it.concurrent.each<
      [name: string, code: string | null, headers: () => Promise<Headers>, more?: { body?: string; now?: number; secrets?: string[] }]
    >([
      ["with both signatures", null, () => sign()],
      ["with its own signature alone", null, async () => without(await sign(), ...STANDARD)],
      ["with the standard signature alone", null, async () => without(await sign(), ...OWN)],
      ["by either of two secrets", null, () => sign(), { secrets: [NEXT, SECRET] }],
      ["five minutes old", null, () => sign(), { now: NOW + 300 }],
      ["older", "timestamp_outside_window", () => sign(), { now: NOW + 302 }],
      ["of a clock that is a day ahead", "timestamp_outside_window", () => sign(), { now: NOW - 86_400 }],
      ["of another secret", "wrong_signature", () => sign(BODY, NOW, NEXT)],
      ["with another body", "wrong_signature", () => sign(), { body: BODY.replace("po_1", "po_2") }],
      ["with a line end more", "wrong_signature", () => sign(), { body: `${BODY}\n` }],
      ["without signatures", "missing_header", async () => without(await sign(), ...OWN, ...STANDARD)],
      ["without a timestamp", "missing_header", async () => without(await sign(), "X-Service-Timestamp")],
      ["with part of a digest", "malformed_header", async () => ({ ...(await sign()), "X-Service-Signature": "sha256=abc" })],
      [
        "with a last digit that differs",
        "wrong_signature",
        async () => {
          const headers = without(await sign(), ...STANDARD);
          return { ...headers, "X-Service-Signature": flipped(headers["X-Service-Signature"] ?? "") };
        },
      ],
      ["that is no JSON", "invalid_body", () => sign("hello"), { body: "hello" }],
      ["whose type is another in its header", "header_mismatch", async () => ({ ...(await sign()), "X-Service-Event": "payout.failed" })],
      [
        "one of whose timestamps is old",
        "timestamp_outside_window",
        async () => {
          const old = await sign(BODY, NOW - 3_600);
          return {
            ...(await sign()),
            "webhook-timestamp": old["webhook-timestamp"] ?? "",
            "webhook-signature": old["webhook-signature"] ?? "",
          };
        },
      ],
    ])("%s: %s", async (_, code, headers, { body = BODY, now = NOW, secrets = [SECRET] } = {}) => {
      const ask = {
        action: "verify",
        url: "http://127.0.0.1:1",
        keys: [KEY],
        headers: Object.entries(await headers()),
        secrets,
        now,
      } as const;
      const output = await drive(driver, { ...ask, body_base64: Buffer.from(body).toString("base64") });
      expect(output).toMatchObject(code === null ? { event_id: "evt_1", error: null } : { error: { code } });
    });
  });
});
