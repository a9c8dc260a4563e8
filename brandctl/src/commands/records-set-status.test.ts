import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate, openPool, type Database } from "@brand-records/postgres";
import { freePort } from "@brand-records/postgres/embedded";
import { createDatabase, eventually, type TestDatabase } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { EVENT_TYPE_NAMES, EVENT_TYPES } from "@brand-records/resources";
import { companionsOf, KIND_NAMES, KINDS, statusesOf } from "../set-status/status-rules.ts";
import { failing, brandctl, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

/** The repository's root: jest runs there. */
const RECORDS = join(process.cwd(), "services/records");
const login = `login_${newId("x").slice(2)}`;
const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

describe("brandctl records set-status", () => {
  let database: TestDatabase;
  let owner: Database;
  /** Uses a login that has the role platform only. */
  let url: string;
  beforeAll(async () => {
    database = await createDatabase("platform_role", async (template) => {
      await migrate({ url: template, schema: "records", directory: join(RECORDS, "migrations") });
      const db = openPool({ url: template, applicationName: "platform role" });
      await db.query(await readFile(join(RECORDS, "platform-role.sql"), "utf8"));
      await db.stop();
    });
    owner = openPool({ url: database.url, applicationName: "set-status test" });
    await owner.query(`create role ${login} login password 'p%ss' in role platform`);
    url = urlOf({ username: login, password: "p%25ss" });
  });
  beforeEach(() => owner.query("truncate records.outbox, records.submissions, records.payouts, records.campaigns"));
  afterAll(async () => {
    await owner.query(`drop role ${login}`);
    await owner.stop();
    await database.drop();
  });

  const urlOf = (parts: Partial<URL>): string => Object.assign(new URL(database.url), parts).href;
  const run = (line: string, surroundings: Surroundings = {}): Promise<Outcome> =>
    brandctl(["records", "set-status", ...line.split(" ")], { env: { PLATFORM_DATABASE_URL: url }, ...surroundings });

  const TIMES = "'2026-11-21T08:30:00Z', '2026-11-21T08:30:00Z'";
  const submission = (status: string, id = "sub_1", brand = "brd_1", more = "null, null") =>
    owner.query(
      `insert into records.submissions (brand_id, id, created_at, updated_at, campaign_id, creator_id, status, platform, content_url,
         earned_centavos, currency, submitted_at, rejection_code, reviewed_at)
       values ($1, $2, ${TIMES}, 'cmp_1', 'crt_1', $3, 'tiktok', 'https://video.example/1', 12000, 'PHP', now(), ${more})`,
      [brand, id, status],
    );
  const payout = (status: string, more = "null, null") =>
    owner.query(
      `insert into records.payouts (brand_id, id, created_at, updated_at, campaign_id, creator_id, status, amount_centavos, fee_centavos,
         currency, submission_count, conversion_count, failure_code, initiated_at)
       values ('brd_1', 'po_1', ${TIMES}, 'cmp_1', 'crt_1', $1, 250000, 1500, 'PHP', 3, 0, ${more})`,
      [status],
    );
  const campaign = (status: string) =>
    owner.query(
      `insert into records.campaigns (brand_id, id, created_at, updated_at, title, type, status, currency, budget_centavos,
         committed_centavos, paid_centavos, platforms)
       values ('brd_1', 'cmp_1', ${TIMES}, 'Merienda', 'blitz', $1, 'PHP', 500000, 350000, 0, '{tiktok}')`,
      [status],
    );
  const recordIn = async (table: string) => (await owner.query<Record<string, unknown>>(`select * from records.${table}`))[0];
  const events = () =>
    owner.query<{ type: string; traceparent: string | null; brand: string; data: Record<string, unknown> }>(
      "select type, traceparent, payload->>'brand_id' as brand, payload->'data' as data from records.outbox order by seq",
    );
  /** This hour, or that of a minute ago. */
  const justNow = (): string => {
    const hours = [Date.now(), Date.now() - 60_000].map((at) => new Date(at).toISOString().slice(0, 13));
    return expect.stringMatching(new RegExp(`^(${hours.join("|")}):`)) as string;
  };

  describe("sets the columns that belong to the status:", () => {
    it("submission approved", async () => {
      await submission("pending");
      const { code, stdout, stderr } = await run("submission sub_1 approved");
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: "submission sub_1 of brd_1: pending → approved\nIt made the event submission.approved.\n",
        stderr: "",
      });
      expect(await recordIn("submissions")).toMatchObject({ status: "approved", reviewed_at: justNow(), rejection_code: null });
      expect(await events()).toMatchObject([{ type: "submission.approved", brand: "brd_1", traceparent: null }]);
    });

    it("submission rejected, with the reason given or the default", async () => {
      await submission("pending");
      await submission("pending", "sub_2");
      const given = await run("submission sub_1 rejected --code off_brief --json");
      expect(given.json()).toEqual({
        record: { resource: "submissions", brand_id: "brd_1", id: "sub_1", previous_status: "pending", status: "rejected" },
        changed: true,
        event: "submission.rejected",
      });
      await run("submission sub_2 rejected");
      expect((await events()).map(({ data }) => data)).toMatchObject([
        { id: "sub_1", rejection_code: "off_brief", reviewed_at: justNow() },
        { id: "sub_2", rejection_code: "other", reviewed_at: justNow() },
      ]);
    });

    it("submission approved after a rejection", async () => {
      await submission("rejected", "sub_1", "brd_1", "'policy', '2026-11-21T09:00:00Z'");
      expect((await run("submission sub_1 approved")).stdout).toContain("rejected → approved");
      expect(await recordIn("submissions")).toMatchObject({ rejection_code: null, reviewed_at: justNow() });
    });

    it("submission withdrawn, which makes no event", async () => {
      await submission("pending");
      expect((await run("submission sub_1 withdrawn")).stdout).toBe(
        "submission sub_1 of brd_1: pending → withdrawn\nThis change makes no event.\n",
      );
      expect(await recordIn("submissions")).toMatchObject({ status: "withdrawn", reviewed_at: null });
      expect(await events()).toEqual([]);
    });

    it("payout processing, failed, processing again, paid, reversed", async () => {
      await payout("pending");
      await run("payout po_1 processing");
      expect(await recordIn("payouts")).toMatchObject({ status: "processing", initiated_at: justNow(), paid_at: null, failure_code: null });
      await run("payout po_1 failed --code rail_unavailable");
      expect(await recordIn("payouts")).toMatchObject({ status: "failed", failure_code: "rail_unavailable" });
      await run("payout po_1 processing");
      expect(await recordIn("payouts")).toMatchObject({ failure_code: null });
      expect(await events()).toEqual([]);
      expect((await run("payout po_1 paid --json")).json()).toMatchObject({ changed: true, event: "payout.paid" });
      expect(await recordIn("payouts")).toMatchObject({ status: "paid", paid_at: justNow() });
      expect((await run("payout po_1 reversed --json")).json()).toMatchObject({ changed: true, event: null });
      expect(await recordIn("payouts")).toMatchObject({ status: "reversed", paid_at: justNow() });
      expect(await events()).toMatchObject([{ type: "payout.paid", data: { paid_at: justNow(), amount_centavos: 250_000 } }]);
    });

    it("campaign ended, then settled", async () => {
      await campaign("active");
      expect((await run("campaign cmp_1 ended --json")).json()).toMatchObject({ event: null });
      expect(await recordIn("campaigns")).toMatchObject({ status: "ended", ends_at: null, settled_at: null });
      expect((await run("campaign cmp_1 settled")).stdout).toContain("It made the event campaign.settled.");
      expect(await recordIn("campaigns")).toMatchObject({ status: "settled", settled_at: justNow(), updated_at: justNow() });
      expect(await events()).toMatchObject([{ type: "campaign.settled", data: { settled_at: justNow() } }]);
    });

    it("continues the trace given with --traceparent", async () => {
      await submission("pending");
      await run(`submission sub_1 approved --traceparent ${TRACEPARENT}`);
      expect(await events()).toMatchObject([{ traceparent: TRACEPARENT }]);
    });

    it("makes the event even if the login has events off for its imports", async () => {
      await submission("pending");
      await owner.query(`alter role ${login} set brand_records.events = off`);
      await run("submission sub_1 approved");
      await owner.query(`alter role ${login} reset brand_records.events`);
      expect(await events()).toHaveLength(1);
    });
  });

  it("succeeds without a change when the record has the status already", async () => {
    await submission("approved");
    const before = await recordIn("submissions");
    expect(await run("submission sub_1 approved")).toMatchObject({
      code: 0,
      stdout: "submission sub_1 of brd_1 is approved already: nothing changed, and no event was made.\n",
    });
    expect((await run("submission sub_1 approved --json")).json()).toMatchObject({ changed: false, event: null });
    expect(await recordIn("submissions")).toEqual(before);
    expect(await events()).toEqual([]);
  });

  describe("with an id that several brands have", () => {
    beforeEach(async () => {
      await submission("pending", "sub_1", "brd_1");
      await submission("pending", "sub_1", "brd_2");
    });

    it("names the brands and changes nothing", async () => {
      expect(await run("submission sub_1 approved")).toMatchObject({
        code: 1,
        stdout: "",
        stderr: "error: Several brands have a submission with the id sub_1: brd_1, brd_2.\nName one with --brand\n",
      });
      expect(await events()).toEqual([]);
    });

    it("changes the record of --brand", async () => {
      expect((await run("submission sub_1 approved --brand brd_2")).stdout).toContain("submission sub_1 of brd_2: pending → approved");
      expect(await events()).toMatchObject([{ brand: "brd_2" }]);
    });

    it("names at most ten brands", async () => {
      for (let at = 100; at < 120; at += 1) await submission("pending", "sub_1", `brd_${at}`);
      const { stderr } = await run("submission sub_1 approved");
      expect(stderr.match(/brd_\d+/g)).toHaveLength(10);
      expect(stderr).toContain(", and others.");
    });
  });

  describe("refuses", () => {
    it.each([
      ["submission", "withdrawn", "approved", "is withdrawn and cannot become approved: withdrawn is final."],
      ["submission", "approved", "withdrawn", "is approved and cannot become withdrawn: it can become rejected."],
      ["payout", "pending", "reversed", "is pending and cannot become reversed: it can become cancelled, failed, paid, processing."],
      ["campaign", "active", "settled", "is active and cannot become settled: it can become cancelled, ended, paused."],
    ])("a %s that is %s to become %s, and lists what it can become", async (kind, from, to, message) => {
      const [make, id] = { submission: [submission, "sub_1"], payout: [payout, "po_1"], campaign: [campaign, "cmp_1"] }[kind] as [
        (status: string) => Promise<unknown>,
        string,
      ];
      await make(from);
      const { code, stdout, stderr } = await run(`${kind} ${id} ${to}`);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain(`The ${kind} ${id} of brd_1 ${message}`);
      expect(await recordIn(`${kind}s`)).toMatchObject({ status: from });
      expect(await events()).toEqual([]);
    });

    it("an unknown record, and one of another brand, both as not found", async () => {
      await submission("pending");
      expect(await run("submission sub_9 approved")).toMatchObject(failing(1, "No brand has a submission with the id sub_9."));
      const { code, stderr } = await run("submission sub_1 approved --brand brd_9 --json");
      expect(code).toBe(1);
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: "not_found", message: expect.stringContaining("brd_9 does not have") } });
    });

    it.each([
      ["submission sub_1 paid", 2, 'The status of a submission must be one of pending, approved, rejected, withdrawn; "paid" is not.'],
      ["payout po_1 approved", 2, "The status of a payout must be one of"],
      ["receiver rcv_1 active", 2, `Allowed choices are ${KIND_NAMES.join(", ")}.`],
      [
        "submission po_1 approved",
        2,
        "The id of a submission must be sub_ and 1 to 40 lower-case letters or digits; po_1 is not.\nIt is the id of a payout.",
      ],
      ["submission rcv_1 approved", 2, "rcv_1 is not.\nIt is the id of a receiver."],
      ["submission  approved", 2, "The id of a submission must not be empty."],
      ["submission 1 approved", 2, "The id of a submission must be sub_ and 1 to 40 lower-case letters or digits; 1 is not."],
      ["submission sub_1 approved --code other", 2, "a submission that becomes approved has none"],
      [
        "submission sub_1 rejected --code compliance",
        2,
        "--code must be one of off_brief, low_quality, duplicate, policy, invalid_views, other",
      ],
      ["payout po_1 failed --code off_brief", 2, "--code must be one of account_invalid, rail_unavailable, compliance, other"],
      ["submission sub_1 approved --traceparent bad", 2, "It must be a W3C traceparent"],
      ["submission sub_1 approved --brand nonsense", 2, "--brand must be brd_ and 1 to 40"],
      ["submission sub_1 approved --platform-database-url nonsense", 2, "--platform-database-url must be a Postgres URL"],
      ["submission sub_1", 2, "missing required argument 'status'"],
    ])("%s", async (line, code, message) => {
      // Checked before connecting: there is no database here.
      const outcome = await run(line, { env: {} });
      expect(outcome).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) });
    });
  });

  describe("finds the database", () => {
    let folder: string;
    beforeEach(async () => {
      await submission("pending");
      folder = await mkdtemp(join(tmpdir(), "set-status-"));
      await mkdir(join(folder, ".local"));
    });
    afterEach(() => rm(folder, { recursive: true }));
    const runFile = (content: object) => writeFile(join(folder, ".local/run.json"), JSON.stringify(content));

    it("by the flag, else the setting, else the run file", async () => {
      const nowhere = "postgres://x:y@127.0.0.1:1/z";
      await runFile({ platform_database_url: url });
      const changes = [
        run("submission sub_1 approved", { cwd: folder, env: {} }),
        run("submission sub_1 approved", { cwd: "/" }),
        run(`submission sub_1 approved --platform-database-url ${url}`, { cwd: "/", env: { PLATFORM_DATABASE_URL: nowhere } }),
      ];
      expect((await Promise.all(changes)).map(({ code }) => code)).toEqual([0, 0, 0]);
      // Concurrent changes make one event.
      expect(await events()).toHaveLength(1);
    });

    it("or lists the places without its URL", async () => {
      expect((await run("submission sub_1 approved", { env: {} })).stderr).toMatch(
        /no --platform-database-url, no PLATFORM_DATABASE_URL, no .local\/run.json from here upwards\.\nRun npm start/,
      );
      await runFile({ base_url: "http://127.0.0.1:8080" });
      expect((await run("submission sub_1 approved", { env: {}, cwd: folder })).stderr).toContain(`nothing in ${folder}/.local/run.json`);
      const { code, stderr } = await run("submission sub_1 approved", { env: { PLATFORM_DATABASE_URL: "secret" } });
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("PLATFORM_DATABASE_URL must be a Postgres URL") });
      expect(stderr).not.toContain("secret");
    });

    it("or names the address, with a remedy, if nothing listens there", async () => {
      const address = `127.0.0.1:${await freePort()}`;
      await runFile({ platform_database_url: `postgres://login:secret@${address}/brand_records` });
      const { code, stderr } = await run("submission sub_1 approved", { env: {}, cwd: folder });
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr:
          `error: The database cannot be reached at ${address}/brand_records (${folder}/.local/run.json): nothing listens there.\n` +
          "The file may be left from a run that has ended: npm start starts another. Is it running, and is PLATFORM_DATABASE_URL right?\n",
      });
    });

    it.each([
      [
        "a wrong password",
        { password: "secret" },
        "unauthenticated",
        /refuses the login login_\w+\..*Is the password in PLATFORM_DATABASE_URL right/,
      ],
      ["a database that is not there", { pathname: "/nowhere" }, "not_found", /There is no such database: .*\/nowhere/],
      ["a database without records", { pathname: "/postgres" }, "not_found", /has no tables for records.*Is this the right database/],
    ])("or explains %s", async (_, parts, kind, message) => {
      const given = Object.assign(new URL(url), parts).href;
      const { code, stderr } = await run("submission sub_1 approved --json", { env: { PLATFORM_DATABASE_URL: given } });
      expect(code).toBe(1);
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: kind } });
      expect(stderr).toMatch(message);
      expect(stderr).not.toContain("secret");
    });

    it("or explains how a login gets the role", async () => {
      await owner.query(`create role ${login}_other login password 'pw'`);
      const given = urlOf({ username: `${login}_other`, password: "pw" });
      const { code, stderr } = await run("submission sub_1 approved", { env: { PLATFORM_DATABASE_URL: given } });
      await owner.query(`drop role ${login}_other`);
      expect(code).toBe(1);
      expect(stderr).toContain(`psql -f services/records/platform-role.sql, then: grant platform to ${login}_other`);
      expect(await events()).toEqual([]);
    });

    it("then waits for another transaction that changes the record, then decides by the new status", async () => {
      const ours = openPool({ url, applicationName: "the platform" });
      let outcome: Promise<Outcome> | undefined;
      await ours.transaction(async (sql) => {
        await sql.query("update records.submissions set status = 'withdrawn' where id = 'sub_1'");
        outcome = run("submission sub_1 approved");
        const waits = "select 1 from pg_stat_activity where application_name = 'brandctl' and wait_event_type = 'Lock'";
        await eventually(async () => expect(await owner.query(waits)).toHaveLength(1));
      });
      expect((await outcome)?.stderr).toContain("is withdrawn and cannot become approved");
      await ours.stop();
    });
  });

  it.each(EVENT_TYPE_NAMES)("set-status sets every time that %s carries", (type) => {
    const [kind = "", status = ""] = type.split(".");
    const { shape } = EVENT_TYPES[type].data;
    // The database sets updated_at.
    const times = Object.keys(shape).filter((field) => field.endsWith("_at") && field !== "updated_at");
    expect(Object.keys(companionsOf(kind, status))).toEqual(expect.arrayContaining(times));
  });

  it("knows the same statuses as the tables", async () => {
    for (const [kind, table] of KINDS) {
      const rows = await owner.query<{ status: string }>(
        `select from_status as status from records.status_transitions where resource = $1
         union select to_status from records.status_transitions where resource = $1`,
        [table],
      );
      expect(rows.map(({ status }) => status).toSorted()).toEqual([...statusesOf(kind)].toSorted());
    }
  });
});
