import { createServer } from "node:http";
import { once } from "node:events";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importRecords } from "@brand-records/brandctl";
import { openPool, type Database } from "@brand-records/postgres";
import { EVENT_TYPE_NAMES, RESOURCE_NAMES, RESOURCES, type RecordOf, type ResourceName } from "@brand-records/resources";
import { eventually } from "@brand-records/testkit";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { brandRecords, brandRecordsProcess, type Ended } from "../command-line.ts";
import { startReceivers, type ReceivedRequest, type ReceiverServer } from "../receivers.ts";
import { seedBrand } from "../seed-brand.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";
import { blocks } from "../webhook-page.ts";

/** One promise: the brands' command line does what its help says, with a key from the environment and secrets from files. */

const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const PLAN = {
  title: "Tag-ulan skincare clips",
  goal: "500,000 views of short clips",
  campaign_type: "blitz",
  planned_for: "2026-01-31",
  review_on: "2026-12-15",
  planning_budget: 75_000,
};

let stack: Stack;
let db: Database;
let brand: TestBrand;
let planner: TestBrand;
let folder: string;

beforeAll(async () => {
  stack = await startStack({ env: { RATE_LIMIT_PLUS: "100000", RECEIVERS_ON_LOOPBACK: "true" } });
  db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
  brand = await stack.createBrand();
  planner = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  await seedBrand(stack, brand.id, { campaigns: 5, submissions: 30, payouts: 5, deposits: 5, conversions: 5, links: 5 });
  folder = await mkdtemp(join(tmpdir(), "command-line-"));
  await writeFile(file("secret"), `${SECRET}\n`);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await db.stop();
  await stack.stop();
});

const file = (name: string): string => join(folder, name);
const withKey = (key: string) => ({ env: { BRAND_RECORDS_URL: stack.url, BRAND_RECORDS_KEY: key } });
const asBrand = (...args: string[]): Promise<Ended> => brandRecords(args, withKey(brand.key));
const asPlanner = (...args: string[]): Promise<Ended> => brandRecords(args, withKey(planner.key));
const errorOf = ({ stderr }: Ended) => (JSON.parse(stderr) as { error: { code: string; message: string; hint?: string } }).error;

describe("whoami", () => {
  it("shows brand, permissions and what is left of the limit", async () => {
    const { code, stdout } = await brandRecordsProcess(["whoami", "--json"], withKey(brand.key));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      url: stack.url,
      brand_id: brand.id,
      environment: "live",
      permissions: ["records:read"],
      limit: { requests: 100_000, window_seconds: 60, remaining: expect.any(Number), reset_seconds: expect.any(Number) },
    });
  });

  it("finds that a key may prepare plans, and prepares none", async () => {
    const { stdout } = await asPlanner("whoami");
    expect(stdout).toContain("Permissions  records:read, campaigns:prepare\n");
    const { plans } = await stack.plans.listPlans({ brand_id: planner.id, status: null, page_size: 1, after_id: null }, callContext());
    expect(plans).toEqual([]);
  });

  it.each<[string, Record<string, string>, number, RegExp]>([
    ["without a key", { BRAND_RECORDS_KEY: "" }, 2, /BRAND_RECORDS_KEY is not set\n.*Developers area/],
    ["without an address", { BRAND_RECORDS_URL: "" }, 2, /BRAND_RECORDS_URL is not set\nexport BRAND_RECORDS_URL=/],
    ["with an address that is none", { BRAND_RECORDS_URL: "records.example" }, 2, /It must be like https:/],
    ["with a password in the address", { BRAND_RECORDS_URL: "https://:secret@records.example" }, 2, /is not the address of a service\n/],
    ["with half a key", { BRAND_RECORDS_KEY: "brk_live_half" }, 2, /BRAND_RECORDS_KEY is not a key\n/],
    ["with an unknown key", { BRAND_RECORDS_KEY: `brk_live_${"a".repeat(36)}` }, 1, /\(invalid_key, request .*\)\n.*not revoked/],
  ])("%s says what to do, and repeats nothing of the key", async (_, env, code, text) => {
    const ended = await brandRecords(["whoami"], { env: { ...withKey(brand.key).env, ...env } });
    expect(ended).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(text) });
    expect(ended.stderr).not.toMatch(/brk_live_[0-9A-Za-z]/);
  });
});

it("takes key and address with the white space that a file of settings leaves", async () => {
  const env = { BRAND_RECORDS_URL: `${stack.url}/\r`, BRAND_RECORDS_KEY: ` ${brand.key}\r\n` };
  expect(await brandRecords(["whoami"], { env })).toMatchObject({ code: 0, stdout: expect.stringContaining(brand.id) });
});

describe("list", () => {
  it.each(RESOURCE_NAMES)("shows %s in a table, and whole as JSON", async (resource) => {
    const { stdout } = await asBrand("list", resource, "--limit", "2");
    const [heading, first, ...others] = stdout.trimEnd().split("\n");
    expect(heading).toMatch(/^ID +STATUS +CREATED \(UTC\) +[A-Z]/);
    expect(others).toHaveLength(1);
    const { data } = JSON.parse((await asBrand("list", resource, "--limit", "2", "--json")).stdout) as { data: { id: string }[] };
    expect(first).toContain(data[0]?.id);
    const response = await stack.get(`/api/v1/${resource}?limit=2`, brand.key);
    expect(data).toEqual(((await response.json()) as { data: unknown }).data);
  });

  it("filters, and continues with the cursor that it prints", async () => {
    const filters = ["submissions", "--status", "approved", "--created-from", "2025-01-01T00:00:00+08:00", "--limit", "2"];
    const { stdout, stderr } = await asBrand("list", ...filters);
    expect(stdout.match(/ approved /g)).toHaveLength(2);
    const [, cursor = ""] = /--cursor (\S+)/.exec(stderr) ?? [];
    const next = await asBrand("list", ...filters, "--cursor", cursor);
    expect(next.stdout.match(/ approved /g)).toHaveLength(2);
    expect(next.stdout.split("\n")[1]).not.toBe(stdout.split("\n")[1]);
  });

  it("cuts cells on a terminal alone", async () => {
    const title = "Tag-ulan ".repeat(15).trim();
    await db.query("update records.campaigns set title = $2 where brand_id = $1", [brand.id, title]);
    expect((await asBrand("list", "campaigns", "--limit", "1")).stdout).toContain(title);
    const shown = await brandRecords(["list", "campaigns", "--limit", "1"], { ...withKey(brand.key), columns: 80 });
    expect(shown.stdout).toContain("…");
    expect(shown.stdout).not.toContain(title);
  });

  it("reports what the service refuses", async () => {
    const ended = await asBrand("list", "payouts", "--status", "lost", "--json");
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(errorOf(ended)).toMatchObject({ code: "invalid_parameter", field: "status", message: expect.stringContaining("processing") });
    expect(await asBrand("list", "payouts", "--limit", "0")).toMatchObject({ code: 2 });
    expect(await asBrand("list", "payout")).toMatchObject({ code: 2, stderr: expect.stringContaining("Allowed choices are campaigns") });
  });
});

describe("plans prepare", () => {
  it("prepares a plan once, however often its request_id is given", async () => {
    await writeFile(file("plan.json"), JSON.stringify(PLAN));
    const { code, stdout } = await asPlanner("plans", "prepare", "--file", file("plan.json"), "--json");
    expect(code).toBe(0);
    const plan = JSON.parse(stdout) as { plan_id: string; request_id: string };
    const again = await asPlanner("plans", "prepare", "--file", file("plan.json"), "--request-id", plan.request_id);
    expect(again.stdout).toMatch(/^Warning +planned_for, 2026-01-31, is before today, .*\nPlan /);
    expect(again.stdout).toContain(plan.plan_id);
    expect(again.stdout).toContain(`${stack.url}/workspaces/blitz/plans/${plan.plan_id}`);
  });

  it("reads standard input, and lists every problem", async () => {
    const ended = await brandRecords(["plans", "prepare", "--file", "-"], { ...withKey(planner.key), input: '{"title":"Clips"}' });
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\n {2}goal: is required\n(.*\n)* {2}planning_budget: is required\n/),
    });
  });

  it("takes a file with a byte order mark, and refuses one without end", async () => {
    await writeFile(file("marked.json"), `\ufeff${JSON.stringify({ ...PLAN, title: "Marked" })}\r\n`);
    expect(await asPlanner("plans", "prepare", "--file", file("marked.json"))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Marked"),
    });
    expect(await asPlanner("plans", "prepare", "--file", "/dev/zero")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--file: /dev/zero is larger than 1 MiB"),
    });
  });

  it("names the permission that a key lacks", async () => {
    const ended = await asBrand("plans", "prepare", "--file", file("plan.json"));
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/permission_required(.*\n)+Use a key with this permission/) });
  });

  it("gives the request_id of a plan that may exist, as no response came", async () => {
    const server = createServer((request) => request.socket.destroy()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { ...withKey(planner.key).env, BRAND_RECORDS_URL: url };
    const onStart = (child: { stderr: NodeJS.ReadableStream; kill(signal: NodeJS.Signals): void }): void => {
      child.stderr.once("data", () => child.kill("SIGINT"));
    };
    const ended = await brandRecordsProcess(["plans", "prepare", "--file", file("plan.json")], { env, onStart });
    server.close();
    expect(ended).toMatchObject({ code: 130, stderr: expect.stringMatching(/--request-id [0-9a-f-]{36} makes no second one\.\n$/) });
  });

  it.each([
    ["no JSON", "{", /--file is not JSON/],
    ["a list", "[]", /one JSON object/],
  ])("refuses %s before it sends anything", async (_, text, message) => {
    await writeFile(file("wrong.json"), text);
    expect(await asPlanner("plans", "prepare", "--file", file("wrong.json"))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(message),
    });
  });
});

describe("events", () => {
  let server: ReceiverServer;
  let url: string;
  let status: number;
  beforeAll(async () => {
    server = await startReceivers((_, response) => void response.writeHead(status, { location: "/elsewhere" }).end());
    url = `${server.url}hooks`;
  });
  beforeEach(() => {
    status = 204;
    server.requests.length = 0;
  });
  afterAll(() => server.stop());

  const send = (...more: string[]): Promise<Ended> =>
    brandRecords(["events", "send", ...more, "--to", url, "--secret-file", file("secret")]);

  it("send makes each type as the schemas describe it, which verify then verifies", async () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const message = ajv.compile(JSON.parse(await readFile("docs/schemas/brand-event.schema.json", "utf8")) as object);
    const { webhooks, components } = (await (await fetch(`${stack.url}/openapi/service.json`)).json()) as {
      components: {
        pathItems: Record<string, { post: { requestBody: { content: Record<string, { schema: object; example: object }> } } }>;
      };
      webhooks: Record<string, { $ref: string }>;
    };
    for (const type of EVENT_TYPE_NAMES) {
      expect(await send(type)).toMatchObject({ code: 0, stdout: expect.stringContaining("accepted (204, ") });
      const { headers, body } = server.requests.pop() as ReceivedRequest;
      const event = JSON.parse(body) as { test: boolean };
      const described = components.pathItems[webhooks[type]?.$ref.split("/").at(-1) ?? ""]?.post.requestBody.content["application/json"];
      expect({ valid: message(event), errors: message.errors }).toEqual({ valid: true, errors: null });
      const isDelivery = ajv.compile({ ...described?.schema, components });
      expect({ valid: isDelivery(event), errors: isDelivery.errors }).toEqual({ valid: true, errors: null });
      expect(Object.keys(event)).toEqual(Object.keys(described?.example ?? {}));
      expect(event.test).toBe(true);
      await writeFile(file("headers.json"), JSON.stringify(headers));
      const verified = await brandRecords(
        ["events", "verify", "--secret-file", file("secret"), "--headers", file("headers.json"), "--body", "-", "--json"],
        { input: body },
      );
      expect(JSON.parse(verified.stdout)).toEqual({ verified: true, known_type: true, event });
    }
  });

  it("send signs with both secrets during a rotation, and sends events that are not tests with --live", async () => {
    await writeFile(file("next"), `whsec_${randomBytes(32).toString("base64")}`);
    await send("payout.paid", "--next-secret-file", file("next"), "--live");
    expect(server.requests[0]?.headers["webhook-signature"]).toMatch(/^v1,\S+ v1,\S+$/);
    expect(JSON.parse(String(server.requests[0]?.body))).toMatchObject({ test: false });
  });

  it("send sends the event of a file as it is, and nothing that is no event of the type", async () => {
    const stored = ' {"id":"evt_1", "type":"payout.paid","data":{"note":"ñ \\u00f1"}}\n';
    await writeFile(file("stored"), stored);
    expect(await send("payout.paid", "--body", file("stored"))).toMatchObject({ code: 0, stdout: expect.stringContaining("evt_1") });
    expect([server.requests[0]?.body, server.requests[0]?.headers["webhook-id"]]).toEqual([stored, "evt_1"]);
    await writeFile(file("no-event"), "[]");
    expect(await send("campaign.settled", "--body", file("stored"))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("payout.paid"),
    });
    expect(await send("payout.paid", "--body", file("no-event"))).toMatchObject({ code: 2, stderr: expect.stringContaining("no event") });
    expect(server.requests).toHaveLength(1);
  });

  describe("send --record", () => {
    const sendRecord = (id: string, ...more: string[]): Promise<Ended> =>
      brandRecords(["events", "send", ...more, "--record", id, "--to", url, "--secret-file", file("secret")], withKey(brand.key));
    /** Imports a record, which makes no event. */
    const importOne = async <Name extends ResourceName>(resource: Name, record: Partial<RecordOf<Name>>): Promise<string> => {
      const line = { ...RESOURCES[resource].example, ...record };
      const { problems } = await importRecords(stack.importing, { brandId: brand.id, resource, skipBad: false }, [JSON.stringify(line)]);
      expect(problems).toEqual([]);
      return line.id;
    };
    const change = (table: string, id: string, set: string): Promise<unknown> =>
      db.query(`update records.${table} set ${set} where brand_id = $1 and id = $2`, [brand.id, id]);

    it("sends the event that the service made of the record, but for its id", async () => {
      await stack.receivers.createReceiver({ brand_id: brand.id, url, label: "Record", events: [...EVENT_TYPE_NAMES] }, callContext());
      const campaign = await importOne("campaigns", { status: "ended" });
      const payout = await importOne("payouts", { status: "processing", paid_at: null });
      const submission = await importOne("submissions", { status: "pending", payout_id: null, reviewed_at: null });
      const ids = [submission, payout, campaign];
      await change("submissions", submission, "status = 'rejected', rejection_code = 'policy', reviewed_at = now()");
      await change("payouts", payout, "status = 'paid', paid_at = now()");
      await change("campaigns", campaign, "status = 'settled', settled_at = now()");
      await eventually(() => expect(server.requests).toHaveLength(ids.length), { timeoutMs: 20_000 });
      const made = server.requests.splice(0).map(({ body }) => JSON.parse(body) as { data: { id: string; updated_at: string } });
      for (const id of ids) {
        expect(await sendRecord(id, "--live")).toMatchObject({ code: 0 });
        const { body = "" } = server.requests.pop() ?? {};
        const { data, ...event } = made.find(({ data }) => data.id === id) ?? { data: { updated_at: "" } };
        const { id: newId } = JSON.parse(body) as { id: string };
        const dashboard_url = `${stack.url}/developers/events/${newId}`;
        // The service makes an event some milliseconds after the record is changed.
        expect(body).toBe(JSON.stringify({ ...event, id: newId, created_at: data.updated_at, dashboard_url, data }));
      }
      expect(await sendRecord(payout)).toMatchObject({ stdout: expect.stringContaining("payout.paid, marked as a test") });
      expect(JSON.parse(server.requests.pop()?.body ?? "")).toMatchObject({ test: true });
    });

    it("refuses records without an event, and says which have one", async () => {
      const pending = await importOne("payouts", { id: "po_1", status: "processing", paid_at: null });
      const refusals: [id: string, args: string[], code: number, text: RegExp][] = [
        [pending, [], 1, /is processing: there is no event for that\.\n.*when it becomes paid/],
        ["po_none", [], 1, /The key's brand has no po_none/],
        ["cnv_1", [], 2, /there are no events of cnv_1\n.*sub_…/],
        [pending, ["campaign.settled"], 2, /campaign\.settled is no event of po_/],
        [pending, ["--body", "-"], 2, /each name an event/],
      ];
      for (const [id, args, code, text] of refusals) {
        expect(await sendRecord(id, ...args)).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(text) });
      }
      expect(await send()).toMatchObject({ code: 2, stderr: expect.stringContaining("The event's type is missing") });
      expect(server.requests).toEqual([]);
    });
  });

  it.each([
    [401, /refused \(401, \d+ ms\)\nDo +Check the secret/],
    [302, /refused \(302, \d+ ms\)\nDo +Give the final URL: redirects are not followed/],
  ])("send exits with 1 after a %i, and says what to do", async (given, text) => {
    status = given;
    expect(await send("payout.paid")).toMatchObject({ code: 1, stdout: expect.stringMatching(text) });
    expect(server.requests).toHaveLength(1);
  });

  it("send refuses a wrong URL, an unknown type and a secret that is none, and repeats no secret", async () => {
    await writeFile(file("half"), SECRET.slice(0, 20));
    const sent = [
      brandRecords(["events", "send", "payout.paid", "--to", "localhost:3000", "--secret-file", file("secret")]),
      brandRecords(["events", "send", "payout.lost", "--to", url, "--secret-file", file("secret")]),
      brandRecords(["events", "send", "payout.paid", "--to", url, "--secret-file", file("half")]),
      brandRecords(["events", "send", "payout.paid", "--to", url, "--secret-file", file("none")]),
      brandRecords(["events", "send", "payout.paid", "--to", url, "--secret-file", "-"], { input: SECRET.slice(0, 20) }),
    ];
    for (const ended of await Promise.all(sent)) {
      expect(ended).toMatchObject({ code: 2, stdout: "" });
      expect(ended.stderr).not.toContain(SECRET.slice(0, 12));
    }
    expect(server.requests).toEqual([]);
  });

  describe("verify", () => {
    const [head = "", body = ""] = (blocks("http")[0] ?? "").trimEnd().split("\n\n");
    const documented = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const verify = async (given: { at?: string; body?: string; headers?: string; secret?: string } = {}): Promise<Ended> => {
      await writeFile(file("head"), given.headers ?? head);
      await writeFile(file("body"), given.body ?? body);
      const at = given.at === undefined ? [] : ["--at", given.at];
      const args = ["events", "verify", "--secret-file", "-", "--headers", file("head"), "--body", file("body"), ...at];
      return brandRecords(args, { input: given.secret ?? documented });
    };

    it("verifies the documented request as of when it arrived", async () => {
      const edited = { headers: `\ufeff${head.split("\n").slice(1).join("\r\n")}`, secret: `\ufeff ${documented}\r\n\r\n` };
      for (const given of [{ at: "1795227310" }, { at: "2026-11-21T02:15:10Z" }, { at: "1795227310", ...edited }]) {
        expect(await verify(given)).toMatchObject({
          code: 0,
          stdout: expect.stringMatching(/^Verified {2}yes\n.*evt_01m7e9rkgsf6p8ke7n67az5qq0\n/),
        });
      }
    });

    it.each<[string, Parameters<typeof verify>[0], number, RegExp]>([
      ["an old one", {}, 1, /Not verified: the timestamp is more than 300 s.*\n.*--at/],
      ["an altered one", { at: "1795227310", body: `${body}\n` }, 1, /Not verified: no secret made this signature.*\n.*line end/],
      ["another secret", { at: "1795227310", secret: SECRET }, 1, /Not verified: no secret made this signature/],
      ["no signature", { at: "1795227310", headers: "Content-Type: application/json" }, 1, /Not verified: neither/],
      ["no headers at all", { headers: "none" }, 2, /--headers has no headers/],
      ["a time that is none", { at: "noon" }, 2, /--at must be an RFC 3339 time/],
      ["a time without an offset", { at: "2026-11-21T02:15:10" }, 2, /--at must be .* in Manila, .* is 2026-11-21T02:15:10\+08:00\n/],
    ])("refuses %s", async (_, given, code, text) => {
      expect(await verify(given)).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(text) });
    });
  });
});
