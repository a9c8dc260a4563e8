import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { EVENT_TYPE_NAMES, RESOURCE_NAMES, type ResourceName, RESOURCES } from "@brand-records/resources";
import { importRecords } from "@brand-records/brandctl";
import { openPool, type Database } from "@brand-records/postgres";
import { eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { brandRecordsProcess, type Ended } from "../command-line.ts";
import { startForwardingProxy, type ForwardingProxy } from "../forwarding-proxy.ts";
import { seedBrand } from "../seed-brand.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: `brand-records sync` keeps a copy that equals the database, whatever happens during a walk. */

/** 14 requests a walk: 1 to campaigns, 3 to submissions, 3 to payouts, 2 to deposits, 3 to conversions, 2 to links. */
const SIZES = { campaigns: 8, submissions: 500, payouts: 450, deposits: 210, conversions: 450, links: 205 };
const REQUESTS_OF_A_WALK = 14;

type Json = Record<string, unknown>;
type Intercept = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<boolean> | boolean;

let stack: Stack;
let db: Database;
let proxy: ForwardingProxy;
let receiver: Server;
let bodies: string[];
let folder: string;
let brand: TestBrand;
let running: ChildProcess;
/** Called for the first, second, … request of a test. */
let onRequest: (number: number, ...exchange: Parameters<Intercept>) => ReturnType<Intercept>;
let requests: number;
/** Thrown by `onRequest`; `run` throws it again. */
let failure: unknown;

beforeAll(async () => {
  stack = await startStack({ env: { RATE_LIMIT_PLUS: "100000", RECEIVERS_ON_LOOPBACK: "true" } });
  db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
  proxy = await startForwardingProxy(stack.url, {
    intercept: async (incoming, outgoing) => {
      try {
        return await onRequest((requests += 1), incoming, outgoing);
      } catch (error) {
        failure = error;
        return running.kill("SIGKILL");
      }
    },
  });
  receiver = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      response.writeHead(204).end();
    });
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
});
beforeEach(async () => {
  onRequest = () => false;
  requests = 0;
  failure = undefined;
  bodies = [];
  folder = await mkdtemp(join(tmpdir(), "sync-"));
  brand = await stack.createBrand();
  await seedBrand(stack, brand.id, SIZES);
  await writeFile(keyFile(), `${brand.key}\n`);
});
afterEach(async () => {
  running.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});
afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await proxy.stop();
  await db.stop();
  await stack.stop();
});

const keyFile = (): string => join(folder, "key");

async function run(args: readonly string[] = [], { input = "", ...env }: Record<string, string> = {}): Promise<Ended> {
  const settings = { BRAND_RECORDS_URL: proxy.url, BRAND_RECORDS_KEY_FILE: keyFile(), BRAND_RECORDS_DB: join(folder, "copy.db") };
  const onStart = (child: ChildProcess): void => void (running = child);
  const ended = await brandRecordsProcess(["sync", ...args], { env: { ...settings, ...env }, input, onStart });
  if (failure !== undefined) throw failure;
  return ended;
}

const merge = (input: string): Promise<Ended> => run(["--event", "-"], { input });

const done = { code: 0, stderr: "" };

/** Returns the copy's rows of a query. */
function copy(query: string): Json[] {
  const opened = new DatabaseSync(join(folder, "copy.db"), { readOnly: true });
  try {
    return opened.prepare(query).all();
  } finally {
    opened.close();
  }
}
const copied = (resource: ResourceName): unknown[] =>
  copy(`select record from records where resource = '${resource}' order by id`).map(({ record }) => JSON.parse(String(record)));
const stored = (resource: ResourceName): Promise<Json[]> =>
  db.query(`select ${Object.keys(RESOURCES[resource].schema.shape).join(", ")} from records.${resource} where brand_id = $1 order by id`, [
    brand.id,
  ]);

async function expectEqualCopy(): Promise<void> {
  for (const resource of RESOURCE_NAMES) expect(copied(resource)).toEqual(await stored(resource));
  expect(copy("select * from to_read union all select resource, id from vanished")).toEqual([]);
  expect(copy("select id from brand")).toEqual([{ id: brand.id }]);
}

/** @throws if fewer records have this status: the brand's statuses are drawn by chance */
async function update(table: string, from: string, set: string, count = 3): Promise<void> {
  const changed = await db.query(
    `update records.${table} set ${set} where brand_id = $1 and id in (
       select id from records.${table} where brand_id = $1 and status = '${from}' order by created_at desc, id desc limit ${count}) returning id`,
    [brand.id],
  );
  if (changed.length !== count) throw new Error(`${changed.length} of ${count} ${from} ${table} were there to change`);
}

/** The payouts that failed: few others wait to be paid, in some brands none. */
const retryPayouts = (count?: number): Promise<void> => update("payouts", "failed", "status = 'processing', failure_code = null", count);

/** Changes, adds and corrects records of every resource, on pages that were read and on pages that were not. */
async function change(): Promise<void> {
  await update("submissions", "pending", "status = 'approved', reviewed_at = now()");
  await update("submissions", "pending", "status = 'withdrawn'");
  await update("payouts", "paid", "status = 'reversed'");
  await retryPayouts();
  await update("payouts", "processing", "status = 'failed', failure_code = 'compliance'");
  await update("deposits", "succeeded", "status = 'refunded', refunded_centavos = amount_centavos");
  await update("conversions", "pending", "status = 'reversed', reversal_code = 'fraud'");
  await update("links", "active", "status = 'disabled', clicks = clicks + 1");
  await update("campaigns", "active", "status = 'ended'", 1);
  for (const resource of RESOURCE_NAMES) {
    const [sample] = await stored(resource);
    const [prefix = ""] = String(sample?.["id"]).split("_");
    const year = (year: number): Json => ({ created_at: `${year}-01-01T00:00:00.000Z`, updated_at: `${year}-01-01T00:00:00.000Z` });
    const correction = { ...sample, updated_at: sample?.["created_at"], status: sample?.["status"] === "active" ? "paused" : "pending" };
    if (resource === "links" || resource === "campaigns") correction.status = "paused";
    const records = [{ ...sample, id: newId(prefix), ...year(2001) }, { ...sample, id: newId(prefix), ...year(2030) }, correction];
    const { problems } = await importRecords(
      stack.importing,
      { brandId: brand.id, resource, skipBad: false },
      records.map((record) => JSON.stringify(record)),
    );
    expect(problems).toEqual([]);
  }
}

/** Replaces the key in the file, then revokes the old one. */
async function rotateKey(): Promise<void> {
  const created = await stack.accounts.createKey(
    { brand_id: brand.id, name: "Next", environment: "live", permissions: [], created_by: brand.owner },
    callContext(),
  );
  await writeFile(keyFile(), created.secret);
  await stack.accounts.revokeKey({ key_id: brand.keyId, revoked_by: brand.owner }, callContext());
}

function respond(outgoing: ServerResponse, status: number, headers: Record<string, string> = {}, body = "{}"): true {
  outgoing.writeHead(status, { "Content-Type": "application/json", ...headers }).end(body);
  return true;
}

/** Returns the body of an event that reports the record. */
const eventOf = (resource: ResourceName, record: Json, created_at = new Date().toISOString()): string =>
  JSON.stringify({ id: "evt_1", created_at, brand_id: brand.id, test: false, data: { ...record, resource } });

/** Makes the events that wait as if they were received after this machine's clock was set back. */
function setClockBack(): void {
  const opened = new DatabaseSync(join(folder, "copy.db"));
  opened.exec("update waiting_events set received_at = strftime('%Y-%m-%dT%H:%M:%fZ', received_at, '-4 minutes')");
  opened.close();
}

/** Changes a submission after a page of them was read, merges its event, and only then lets the page arrive. */
async function overtake(outcome: string, incoming: IncomingMessage, outgoing: ServerResponse, onMerged = (): void => {}): Promise<true> {
  const page = await stack.get(incoming.url ?? "", brand.key);
  const body = await page.text();
  const id = (JSON.parse(body) as { data: Json[] }).data.find(({ status }) => status === "pending")?.["id"];
  await db.query("update records.submissions set status = 'withdrawn' where brand_id = $1 and id = $2", [brand.id, id]);
  const record = (await stored("submissions")).find((each) => each["id"] === id) ?? {};
  const walking = running;
  expect(await merge(eventOf("submissions", record))).toMatchObject({
    ...done,
    stdout: expect.stringContaining(`${String(id)} is ${outcome}`),
  });
  running = walking;
  onMerged();
  return respond(outgoing, 200, { "X-Brand-Id": brand.id }, body);
}

/** Sends half of a page. */
function cut(outgoing: ServerResponse): true {
  outgoing.writeHead(200, { "X-Brand-Id": brand.id, "Content-Length": "1000" }).write('{"resource":');
  setImmediate(() => outgoing.destroy());
  return true;
}

it("copies every record through changes, imports, refusals, lost connections, a new key and a kill during its walk", async () => {
  onRequest = async (number, _, outgoing) => {
    if (number === 3 || number === 17) await change();
    if (number === 4) return respond(outgoing, 429, { "Retry-After": "1" });
    if (number === 6) return outgoing.destroy().destroyed;
    if (number === 8) return respond(outgoing, 503, { "Retry-After": new Date(Date.now() + 1_000).toUTCString() });
    if (number === 10) return cut(outgoing);
    if (number === 12) return running.kill("SIGKILL");
    if (number === 14) await rotateKey();
    return false;
  };
  const killed = await run();
  expect(killed.code).toBeNull();
  expect(killed.stderr.match(/: again in \d s\./g)).toHaveLength(4);
  const finished = await run();
  expect(finished).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Continuing the walk of .*Z, after [\d,]+ records\.\n$/) });
  expect(proxy.exchanges.map(({ status }) => status)).toContain(401);
  await change();
  expect(await run()).toMatchObject(done);
  await expectEqualCopy();
});

it("reads each page once, although it is killed after every page", async () => {
  onRequest = (number) => number % 2 === 0 && running.kill("SIGKILL");
  let ended: Ended;
  do ended = await run();
  while (ended.code === null);
  expect(ended.code).toBe(0);
  expect(requests).toBe(2 * REQUESTS_OF_A_WALK - 1);
  await expectEqualCopy();
});

it("merges events into records, in any order and repeatedly, and ignores those without updated_at", async () => {
  expect(await run()).toMatchObject(done);
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  await stack.receivers.createReceiver({ brand_id: brand.id, url, label: "Copy", events: [...EVENT_TYPE_NAMES] }, callContext());
  await update("campaigns", "active", "status = 'ended'", 1);
  await retryPayouts(2);
  expect(await run()).toMatchObject(done);
  const [{ id } = { id: "" }] = await db.query<{ id: string }>(
    "select id from records.submissions where brand_id = $1 and status = 'pending' limit 1",
    [brand.id],
  );
  for (const review of ["'approved', rejection_code = null", "'rejected', rejection_code = 'policy'", "'approved', rejection_code = null"])
    await db.query(`update records.submissions set reviewed_at = now(), status = ${review} where brand_id = $1 and id = $2`, [
      brand.id,
      id,
    ]);
  await update("payouts", "processing", "status = 'paid', paid_at = now()", 2);
  await update("campaigns", "ended", "status = 'settled', settled_at = now(), paid_centavos = 7", 1);
  await eventually(() => expect(bodies).toHaveLength(6), { timeoutMs: 20_000 });
  const inOrder = bodies.toSorted((one, other) => (JSON.parse(one).created_at < JSON.parse(other).created_at ? -1 : 1));
  const old = JSON.parse(inOrder[0] ?? "") as { data: Json };
  delete old.data["updated_at"];
  for (const input of [JSON.stringify(old), ...inOrder, ...inOrder.toReversed()]) {
    expect(await merge(input)).toMatchObject(done);
  }
  await expectEqualCopy();
});

it("keeps the later state of an event that is merged while an older page is on its way", async () => {
  onRequest = (number, ...exchange) => number === 2 && overtake("not in the copy", ...exchange);
  expect(await run()).toMatchObject(done);
  await expectEqualCopy();
  requests = 0;
  onRequest = (number, ...exchange) => number === 2 && overtake("changed", ...exchange);
  expect(await run()).toMatchObject(done);
  await expectEqualCopy();
  expect(copy("select * from waiting_events")).toEqual([]);
});

it("keeps that state also if this machine's clock is set back by minutes after the page was requested", async () => {
  expect(await run()).toMatchObject(done);
  requests = 0;
  onRequest = (number, ...exchange) => number === 2 && overtake("changed", ...exchange, setClockBack);
  expect(await run()).toMatchObject(done);
  await expectEqualCopy();
});

it("ignores an event from before the listing, although an import set the record back to an earlier updated_at", async () => {
  expect(await run()).toMatchObject(done);
  const minutesAgo = (minutes: number) => new Date(Date.now() - 60_000 * minutes).toISOString();
  const [payout = {}] = await stored("payouts");
  const late = eventOf("payouts", { ...payout, status: "paid", updated_at: minutesAgo(6) }, minutesAgo(6));
  expect(await merge(late)).toMatchObject({
    ...done,
    stdout: `${String(payout["id"])} is not changed: the copy has a later listing\n`,
  });
  await expectEqualCopy();
  const opened = new DatabaseSync(join(folder, "copy.db"));
  opened.exec("update records set listed_at = '2026-01-01T00:00:00.000Z'");
  opened.close();
  onRequest = async (number) => {
    if (number !== REQUESTS_OF_A_WALK + 5) return false;
    const walking = running;
    expect(await merge(late)).toMatchObject({ stdout: `${String(payout["id"])} is changed\n` });
    running = walking;
    return false;
  };
  expect(await run()).toMatchObject(done);
  await expectEqualCopy();
});

it("changes nothing for an event of a record that it does not have, of another resource, without updated_at, or of a test", async () => {
  const input = eventOf("submissions", { id: "sub_new" });
  expect(await merge(input)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is no copy yet"),
  });
  expect(await readdir(folder)).toEqual(["key"]);
  expect(await run()).toMatchObject(done);
  const before = copy("select * from records order by resource, id");
  const updated_at = "2031-01-01T00:00:00.000Z";
  const payout = { ...(copied("payouts")[0] as Json), status: "paid" };
  for (const [body, outcome] of [
    [eventOf("submissions", { id: "sub_new", status: "paid", updated_at }), "is not in the copy"],
    [eventOf("refunds" as ResourceName, { id: "ref_1", updated_at }), "is not in the copy"],
    [eventOf("payouts", { ...payout, updated_at: null }), "is not changed: the event has no updated_at"],
    [eventOf("payouts", { ...payout, updated_at: 5 }), "is not changed: the event has no updated_at"],
    [eventOf("payouts", { ...payout, updated_at }).replace('"test":false', '"test":true'), "is not changed: this is a test event"],
  ] as const)
    expect(await merge(body)).toMatchObject({ ...done, stdout: expect.stringContaining(outcome) });
  expect(copy("select * from records order by resource, id")).toEqual(before);
});

it("asks again after responses that are not whole pages, and not after a redirect", async () => {
  const bodies = ['{"resource":"submissions","data":[', "", "<html>", "[]", '{"data":{}}'];
  onRequest = (number, _, outgoing) => {
    const body = number % 2 === 0 ? bodies[number / 2 - 1] : undefined;
    if (body !== undefined) return respond(outgoing, 200, { "X-Brand-Id": brand.id }, body);
    return number === 12 && respond(outgoing, 408, {}, "");
  };
  const { code, stderr } = await run();
  const isNoPage = expect.stringMatching(/^HTTP 200: the body is not whole\. \(no_response\): again in/);
  expect({ code, lines: stderr.trimEnd().split("\n") }).toEqual({
    code: 0,
    lines: [...bodies.map(() => isNoPage), expect.stringContaining("HTTP 408")],
  });
  await expectEqualCopy();
  onRequest = (_, __, outgoing) => respond(outgoing, 302, { Location: "https://elsewhere.example/" });
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining("redirects to https://elsewhere.example/") });
});

it("refuses another brand's key and events, a refused key and an unexpected brand, and changes nothing", async () => {
  expect(await run()).toMatchObject(done);
  const everything = () => ["records", "walks", "to_read", "brand"].map((table) => copy(`select * from ${table} order by 1, 2`));
  const before = everything();
  const other = await stack.createBrand();
  const input = eventOf("payouts", { ...(copied("payouts")[0] as Json), updated_at: "2031-01-01T00:00:00.000Z" });
  const event = ["--event", "-"];
  const refusals: [Parameters<typeof run>, number, string][] = [
    [[[], { BRAND_RECORDS_KEY: other.key }], 1, `the key is of brand ${other.id}, not of ${brand.id}`],
    [[[], { BRAND_RECORDS_KEY: `brk_live_${"a".repeat(36)}` }], 1, "invalid_key"],
    [[[], { BRAND_RECORDS_KEY_FILE: "" }], 2, "BRAND_RECORDS_KEY is not set"],
    [[[], { BRAND_RECORDS_KEY_FILE: join(folder, "missing") }], 2, "the file does not exist"],
    [[["--brand", other.id]], 1, `the copy is of brand ${brand.id}, not of ${other.id}`],
    [[[], { BRAND_RECORDS_URL: "" }], 2, "BRAND_RECORDS_URL is not set"],
    [[event, { input: input.replace(brand.id, other.id) }], 1, `The event is of brand ${other.id}`],
    [[event, { input: "{" }], 2, "--event has no event"],
  ];
  for (const [given, code, message] of refusals) {
    const ended = await run(...given);
    expect(ended).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) });
    expect(ended.stderr).not.toContain("unexpected error");
    expect(everything()).toEqual(before);
  }
});

it("refuses responses that do not name their brand", async () => {
  onRequest = (_, __, outgoing) => respond(outgoing, 200, {}, "<html>");
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining("no X-Brand-Id") });
  expect(copy("select * from walks")).toEqual([]);
});

it("lets one walk write at a time", async () => {
  let second: Ended | undefined;
  onRequest = async (number) => {
    if (number === 2) {
      const first = running;
      second = await run();
      running = first;
    }
    return false;
  };
  expect(await run()).toMatchObject(done);
  expect(requests).toBe(REQUESTS_OF_A_WALK);
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining("Another brand-records sync writes into") });
});

it("reads a list from its start, if its cursor is refused: once in a run", async () => {
  onRequest = (number, _, outgoing) =>
    (number === 3 || number === 5) && respond(outgoing, 400, {}, '{"error":{"code":"invalid_cursor","message":"The cursor is old."}}');
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringMatching(/The cursor is old.*\n.*The same command continues/) });
  onRequest = (number, _, outgoing) =>
    number === 7 && respond(outgoing, 400, {}, '{"error":{"code":"invalid_cursor","message":"The cursor is old."}}');
  expect(await run()).toMatchObject({ code: 0, stderr: expect.stringContaining("reading this list from its start.") });
  expect(requests).toBe(7 + REQUESTS_OF_A_WALK - 1);
  await expectEqualCopy();
});

it("walks once more after a walk that was interrupted long ago", async () => {
  onRequest = (number) => number === 5 && running.kill("SIGKILL");
  await run();
  const opened = new DatabaseSync(join(folder, "copy.db"));
  opened.exec("update walks set started_at = '2026-01-01T00:00:00.000Z'");
  opened.close();
  await change();
  expect(await run()).toMatchObject({ code: 0 });
  expect(requests).toBe(5 + (REQUESTS_OF_A_WALK - 4) + REQUESTS_OF_A_WALK);
  await expectEqualCopy();
});

it("keeps fields that it does not know, and records that are no longer listed, which it shows", async () => {
  onRequest = async (number, incoming, outgoing) => {
    if (number !== 1) return false;
    const page = (await (await stack.get(incoming.url ?? "", brand.key)).json()) as { data: Json[] };
    const data = page.data.map((record) => ({ ...record, mood: { score: 7 } }));
    return respond(outgoing, 200, { "X-Brand-Id": brand.id }, JSON.stringify({ ...page, data }));
  };
  expect(await run()).toMatchObject(done);
  expect(copied("campaigns")[0]).toMatchObject({ mood: { score: 7 } });
  const [gone] = await stored("links");
  await db.query("delete from records.links where brand_id = $1 and id = $2", [brand.id, gone?.["id"]]);
  expect(await run()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^links +205, 1 no longer listed \(vanished\)$/m) });
  expect(copy("select resource, id from vanished")).toEqual([{ resource: "links", id: gone?.["id"] }]);
  expect(copied("links")).toContainEqual(gone);
  expect(copy("select count(*) as links from links")).toEqual([{ links: SIZES.links - 1 }]);
});

it("the views have every field of each resource, and money as whole numbers", async () => {
  expect(await run()).toMatchObject(done);
  for (const resource of RESOURCE_NAMES) {
    const rows = copy(`select * from ${resource} order by id`).map((row) => ({
      ...row,
      ...("platforms" in row && { platforms: JSON.parse(String(row["platforms"])) as unknown }),
    }));
    expect(rows).toEqual(await stored(resource));
  }
});
