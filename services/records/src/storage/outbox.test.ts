import { EVENT_TYPE_NAMES, EVENT_TYPES, readEventMessage, RESOURCE_NAMES } from "@brand-records/resources";
import { openPool, type Database } from "@brand-records/postgres";
import { newId } from "@brand-records/ids";
import { fieldsOf, sampleRecord } from "../../test/any-record.ts";
import { campaign, payout, submission } from "../../test/sample-records.ts";
import { serveRecords, type ServedRecords } from "../../test/serve-records.ts";

/** The events that status changes write to the outbox. */

let served: ServedRecords;
let db: Database;
let brand: string;
beforeAll(async () => {
  served = await serveRecords();
  db = served.db;
});
beforeEach(async () => {
  brand = newId("brd");
  await db.query("truncate records.outbox");
});
afterAll(() => served.stop());

interface Row {
  readonly seq: number;
  readonly id: string;
  readonly aggregatetype: string;
  readonly aggregateid: string;
  readonly type: string;
  readonly payload: string;
  readonly traceparent: string | null;
}

const outbox = () =>
  db.query<Row>("select seq, id, aggregatetype, aggregateid, type, payload::text, traceparent from records.outbox order by seq");
const updatedAt = async () => (await served.list(brand, "submissions"))[0]?.updated_at ?? "";
/** Returns updated_at of each event, in order. */
const updatedAtOfEvents = async () => (await outbox()).map(({ payload }) => readEventMessage(Buffer.from(payload)).event.data.updated_at);
const plusOneMs = (time: string): string => new Date(Date.parse(time) + 1).toISOString();
const eventTypes = async () => (await outbox()).map(({ type }) => type);
const importRecords = (resource: string, ...records: object[]) => served.import(brand, records, { resource });
const setStatus = (table: string, id: string, status: string, more = "") =>
  db.query(`update records.${table} set status = $3${more} where brand_id = $1 and id = $2`, [brand, id, status]);

it.each(EVENT_TYPE_NAMES)("%s is emitted when a record changes to its status, and can be read", async (type) => {
  const { resource } = EVENT_TYPES[type];
  const [, status = ""] = type.split(".");
  const [{ from_status } = { from_status: "" }] = await db.query<{ from_status: string }>(
    "select from_status from records.status_transitions where resource = $1 and to_status = $2 limit 1",
    [resource, status],
  );
  const record = { ...sampleRecord(resource), status: from_status };
  await importRecords(resource, record);
  await setStatus(resource, String(sampleRecord(resource)["id"]), status);
  const [row] = await outbox();
  expect(readEventMessage(Buffer.from(row?.payload ?? "")).event).toMatchObject({ type, data: { resource, status } });
});

describe("a status change with an event", () => {
  it.each([
    [
      "submissions",
      submission(),
      "approved",
      "submission.approved",
      { earned_centavos: 12_000, currency: "PHP", rejection_code: null, reviewed_at: null },
    ],
    [
      "submissions",
      submission(),
      "rejected",
      "submission.rejected",
      { earned_centavos: 12_000, currency: "PHP", rejection_code: null, reviewed_at: null },
    ],
    [
      "payouts",
      payout(),
      "paid",
      "payout.paid",
      { amount_centavos: 250_000, fee_centavos: 1_500, submission_count: 3, conversion_count: 0, paid_at: null },
    ],
    [
      "campaigns",
      campaign({ status: "ended" }),
      "settled",
      "campaign.settled",
      { type: "blitz", budget_centavos: 500_000, committed_centavos: 350_000, paid_centavos: 0 },
    ],
  ])("of %s emits one event with the record after the change: %#", async (table, record, status, type, more) => {
    await importRecords(table, record);
    await setStatus(table, record.id, status);
    const [row, ...others] = await outbox();
    expect(others).toEqual([]);
    expect(row).toMatchObject({ aggregatetype: type.split(".")[0], aggregateid: record.id, type, traceparent: null });
    const { event } = readEventMessage(Buffer.from(row?.payload ?? ""));
    expect(event).toMatchObject({ id: row?.id, type, brand_id: brand });
    expect(event.data).toMatchObject({
      resource: table,
      id: record.id,
      campaign_id: table === "campaigns" ? record.id : "cmp_1",
      status,
      previous_status: record.status,
      ...more,
    });
    expect(Math.abs(Date.now() - Date.parse(event.created_at))).toBeLessThan(60_000);
    for (const secret of ["creator_id", "crt_1", "content_url", "video.example", "title", "Merienda"])
      expect(row?.payload).not.toContain(secret);
  });

  it("puts the time and reason of a review into the event, and the writer's trace beside it", async () => {
    const record = submission();
    await importRecords("submissions", record);
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await db.transaction(async (sql) => {
      await sql.query("select set_config('brand_records.traceparent', $1, true)", [traceparent]);
      await sql.query(
        "update records.submissions set status = 'rejected', rejection_code = 'off_brief', reviewed_at = '2026-11-21 08:00:00.5+00' where id = $1",
        [record.id],
      );
    });
    const [row] = await outbox();
    expect(row?.traceparent).toBe(traceparent);
    expect(JSON.parse(row?.payload ?? "").data).toMatchObject({ rejection_code: "off_brief", reviewed_at: "2026-11-21T08:00:00.500Z" });
  });

  it("emits one event per change in order, with a later updated_at each, even for several changes of one record in one transaction", async () => {
    const record = submission();
    await importRecords("submissions", record);
    await db.transaction(async (sql) => {
      for (const status of ["approved", "rejected", "approved"]) {
        await sql.query("update records.submissions set status = $2 where id = $1", [record.id, status]);
      }
    });
    expect(await eventTypes()).toEqual(["submission.approved", "submission.rejected", "submission.approved"]);
    const ids = (await outbox()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(ids.every((id) => /^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(id))).toBe(true);
    const [first = "", second = "", third] = await updatedAtOfEvents();
    expect([second, third]).toEqual([plusOneMs(first), plusOneMs(second)]);
    expect(await updatedAt()).toBe(third);
  });
});

describe("no event is emitted for", () => {
  it("a change that is rolled back, completely or to a savepoint", async () => {
    const [first, second] = [submission(), submission()];
    await importRecords("submissions", first, second);
    const rolledBack = db.transaction(async (sql) => {
      await sql.query("update records.submissions set status = 'approved' where id = $1", [first.id]);
      throw new Error("changed my mind");
    });
    await expect(rolledBack).rejects.toThrow("changed my mind");
    await db.transaction(async (sql) => {
      await sql.query("savepoint before");
      await sql.query("update records.submissions set status = 'approved' where id = $1", [first.id]);
      await sql.query("rollback to savepoint before");
      await sql.query("update records.submissions set status = 'rejected' where id = $1", [second.id]);
    });
    expect((await outbox()).map(({ aggregateid }) => aggregateid)).toEqual([second.id]);
  });

  it("an insert with any status", async () => {
    const record = submission();
    await importRecords("submissions", record);
    await db.query(
      `insert into records.submissions select brand_id, 'sub_inserted', created_at, updated_at, campaign_id, creator_id, payout_id, 'approved',
         platform, content_url, views, earned_centavos, currency, rejection_code, submitted_at, reviewed_at from records.submissions where id = $1`,
      [record.id],
    );
    expect(await outbox()).toEqual([]);
  });

  it("an import, even one that changes statuses in ways that are not allowed otherwise", async () => {
    const [review, rail] = [submission({ status: "withdrawn" }), payout({ status: "reversed" })];
    await importRecords("submissions", review);
    await importRecords("payouts", rail);
    expect((await importRecords("submissions", { ...review, status: "approved" })).summary).toMatchObject({ committed: true, updated: 1 });
    expect((await importRecords("payouts", { ...rail, status: "paid" })).summary).toMatchObject({ committed: true, updated: 1 });
    expect(await outbox()).toEqual([]);
    // The import switches events off for its own transaction only.
    await setStatus("submissions", review.id, "rejected");
    expect(await eventTypes()).toEqual(["submission.rejected"]);
  });

  it("changes of other columns, the same status again, or statuses without an event", async () => {
    const [review, rail, show] = [submission({ status: "approved" }), payout(), campaign()];
    await importRecords("submissions", review, submission({ id: "sub_pending" }));
    await importRecords("payouts", rail);
    await importRecords("campaigns", show);
    await setStatus("submissions", review.id, "approved", ", views = 5000");
    await db.query("update records.submissions set views = 6000 where id = $1", [review.id]);
    await setStatus("submissions", "sub_pending", "withdrawn");
    await setStatus("payouts", rail.id, "failed");
    await setStatus("campaigns", show.id, "ended");
    expect(await outbox()).toEqual([]);
  });
});

describe("brand_records.events", () => {
  /** Approves a submission in a transaction that begins with `statement`. Returns the types of the emitted events. */
  async function approveAfter(statement: string): Promise<string[]> {
    const record = submission();
    await importRecords("submissions", record);
    await db.transaction(async (sql) => {
      await sql.query(statement);
      await sql.query("update records.submissions set status = 'approved' where brand_id = $1 and id = $2", [brand, record.id]);
    });
    return eventTypes();
  }

  it.each([
    "select 1",
    "set local brand_records.events = on",
    "set local brand_records.events = ON",
    "set local brand_records.events = 'on'",
    "set local brand_records.events = ''",
    "set local brand_records.events to default",
    "reset brand_records.events",
    "select set_config('brand_records.events', null, true)",
  ])("emits events after: %s", async (statement) => {
    expect(await approveAfter(statement)).toEqual(["submission.approved"]);
  });

  it.each([
    "set local brand_records.events = off",
    "set local brand_records.events to off",
    // Postgres folds unquoted words to lower case.
    "set local brand_records.events = OFF",
    "set local brand_records.events = 'off'",
    "select set_config('brand_records.events', 'off', true)",
  ])("emits no events after: %s", async (statement) => {
    expect(await approveAfter(statement)).toEqual([]);
  });

  it.each(["false", "no", "0", "-1", "silent", "'OFF'", "'ON'", "'off '", "' '", "'off;'", '"OFF"'])(
    "refuses the change with the valid values in the error after: set local brand_records.events = %s",
    async (value) => {
      await expect(approveAfter(`set local brand_records.events = ${value}`)).rejects.toMatchObject({
        code: "22023",
        message: expect.stringMatching(/^brand_records\.events is ".*": it must be on or off$/s),
        hint: expect.stringContaining("set local brand_records.events = off"),
      });
      expect(await eventTypes()).toEqual([]);
      const [row] = await served.list(brand, "submissions");
      expect(row?.status).toBe("pending");
    },
  );

  it("is on again in the next transaction of the same connection", async () => {
    const one = openPool({ url: served.url, max: 1, applicationName: "outbox test" });
    const record = submission();
    await importRecords("submissions", record);
    await one.transaction(async (sql) => {
      await sql.query("set local brand_records.events = off");
      await sql.query("update records.submissions set status = 'rejected' where id = $1", [record.id]);
    });
    await one.query("update records.submissions set status = 'approved' where id = $1", [record.id]);
    await one.stop();
    expect(await eventTypes()).toEqual(["submission.approved"]);
  });
});

it.each(RESOURCE_NAMES)("a status of %s is declared if and only if a transition has it", async (resource) => {
  const statuses = fieldsOf(resource).get("status")?.schema.enum ?? [];
  const rows = await db.query<{ status: string }>(
    `select from_status as status from records.status_transitions where resource = $1
     union select to_status from records.status_transitions where resource = $1`,
    [resource],
  );
  expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(statuses));
});

describe("updated_at", () => {
  it("is the transaction's time, or a later time that the writer sets; an import brings its own", async () => {
    const record = submission();
    await importRecords("submissions", record);
    const [{ now } = { now: "" }] = await db.transaction(async (sql) => {
      await sql.query("update records.submissions set status = 'approved' where brand_id = $1", [brand]);
      return sql.query<{ now: string }>("select now()::timestamptz(3) as now");
    });
    expect(await updatedAt()).toBe(now);
    await setStatus("submissions", record.id, "rejected", ", updated_at = '2101-01-01 00:00:00+00'");
    expect(await updatedAt()).toBe("2101-01-01T00:00:00.000Z");
    await importRecords("submissions", { ...record, views: 1 });
    expect(await updatedAt()).toBe(record.updated_at);
  });

  it("of an event is the one that a list returns right after the change, also if the writer set it", async () => {
    const record = submission();
    await importRecords("submissions", record);
    await setStatus("submissions", record.id, "approved");
    expect(await updatedAtOfEvents()).toEqual([await updatedAt()]);
    await setStatus("submissions", record.id, "rejected", ", updated_at = '2101-01-01 00:00:00.123456+00'");
    expect((await updatedAtOfEvents())[1]).toBe("2101-01-01T00:00:00.123Z");
    expect(await updatedAt()).toBe("2101-01-01T00:00:00.123Z");
  });

  it("increases although the transaction that changes the record last began first", async () => {
    const record = submission();
    await importRecords("submissions", record);
    await db.transaction(async (early) => {
      await early.query("select now()");
      await setStatus("submissions", record.id, "approved");
      await early.query("update records.submissions set status = 'rejected' where brand_id = $1", [brand]);
    });
    const [approved = "", rejected] = await updatedAtOfEvents();
    expect(rejected).toBe(plusOneMs(approved));
  });

  it.each(["- interval '1 hour'", "- interval '1 ms'", ""])("increases although the writer sets updated_at %s", async (offset) => {
    await importRecords("submissions", submission({ updated_at: "2101-01-01T00:00:00.000Z" }));
    await db.query(`update records.submissions set views = 1, updated_at = updated_at ${offset} where brand_id = $1`, [brand]);
    expect(await updatedAt()).toBe("2101-01-01T00:00:00.001Z");
  });

  it("stays at the last millisecond of its range, where no later one is left, and the record can still change", async () => {
    const record = submission({ updated_at: "9999-12-31T23:59:59.999Z" });
    await importRecords("submissions", record);
    await setStatus("submissions", record.id, "approved");
    expect(await served.list(brand, "submissions")).toMatchObject([{ status: "approved", updated_at: record.updated_at }]);
  });

  it("stays as it is when nothing changes", async () => {
    const record = submission();
    await importRecords("submissions", record);
    await setStatus("submissions", record.id, "pending");
    expect(await updatedAt()).toBe(record.updated_at);
  });
});

it("records.new_id returns TypeIDs as packages/ids does: unique, and ordered by time within a millisecond, too", async () => {
  const [{ id } = { id: "" }] = await db.query<{ id: string }>("select records.new_id('evt', '2026-11-21 08:30:00.123+00') as id");
  const same = newId("evt", Date.parse("2026-11-21T08:30:00.123Z"));
  expect(id.slice(0, 14)).toBe(same.slice(0, 14));
  const rows = await db.query<{ id: string }>(
    "select records.new_id('evt', timestamptz '2026-01-01' + n * interval '1 microsecond') as id from generate_series(1, 2500) n order by n",
  );
  const ids = rows.map((row) => row.id);
  expect(ids).toEqual(ids.toSorted());
  // Version 7 and the variant of RFC 9562, read back from the base32.
  const digits = Array.from(id.slice(4)).reduce(
    (sum, letter) => sum * 32n + BigInt("0123456789abcdefghjkmnpqrstvwxyz".indexOf(letter)),
    0n,
  );
  expect(digits.toString(16).padStart(32, "0")).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
});
