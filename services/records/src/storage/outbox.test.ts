import { readEventMessage } from "@brand-records/brand-events";
import { openPool, type Database } from "@brand-records/postgres";
import { newId } from "@brand-records/typeid";
import { changeMany } from "../../test/change-many.ts";
import { campaign, payout, submission } from "../../test/sample-records.ts";
import { serveRecords, type ServedRecords } from "../../test/serve-records.ts";

/** What a change of status leaves in the outbox, whoever makes it. */

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
const types = async () => (await outbox()).map(({ type }) => type);
const bring = (resource: string, ...records: object[]) => served.import(brand, records, { resource });
const setStatus = (table: string, id: string, status: string, more = "") =>
  db.query(`update records.${table} set status = $3${more} where brand_id = $1 and id = $2`, [brand, id, status]);

describe("each of the four changes", () => {
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
  ])("of %s %# makes one event that says what happened, and can be read", async (table, record, status, type, more) => {
    await bring(table, record);
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

  it("carries the time and the reason of a review, and the writer's trace", async () => {
    const record = submission();
    await bring("submissions", record);
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

  it("makes as many events as there are changes, in their order, also of one record and within one transaction", async () => {
    const record = submission();
    await bring("submissions", record);
    await db.transaction(async (sql) => {
      for (const status of ["approved", "rejected", "approved"]) {
        await sql.query("update records.submissions set status = $2 where id = $1", [record.id, status]);
      }
    });
    expect(await types()).toEqual(["submission.approved", "submission.rejected", "submission.approved"]);
    const ids = (await outbox()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(ids.every((id) => /^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(id))).toBe(true);
  });

  it("makes an event of each change of a statement that makes a thousand", async () => {
    await changeMany(served, brand, 1_000);
  });
});

describe("no event comes of", () => {
  it("a change that is rolled back, wholly or to a savepoint", async () => {
    const [first, second] = [submission(), submission()];
    await bring("submissions", first, second);
    const changing = db.transaction(async (sql) => {
      await sql.query("update records.submissions set status = 'approved' where id = $1", [first.id]);
      throw new Error("changed my mind");
    });
    await expect(changing).rejects.toThrow("changed my mind");
    await db.transaction(async (sql) => {
      await sql.query("savepoint before");
      await sql.query("update records.submissions set status = 'approved' where id = $1", [first.id]);
      await sql.query("rollback to savepoint before");
      await sql.query("update records.submissions set status = 'rejected' where id = $1", [second.id]);
    });
    expect((await outbox()).map(({ aggregateid }) => aggregateid)).toEqual([second.id]);
  });

  it("an insert, whatever the status", async () => {
    const record = submission();
    await bring("submissions", record);
    await db.query(
      `insert into records.submissions select brand_id, 'sub_inserted', created_at, updated_at, campaign_id, creator_id, payout_id, 'approved',
         platform, content_url, views, earned_centavos, currency, rejection_code, submitted_at, reviewed_at from records.submissions where id = $1`,
      [record.id],
    );
    expect(await outbox()).toEqual([]);
  });

  it("an import, also one that changes statuses, in ways they could not go", async () => {
    const [review, rail] = [submission({ status: "withdrawn" }), payout({ status: "reversed" })];
    await bring("submissions", review);
    await bring("payouts", rail);
    expect((await bring("submissions", { ...review, status: "approved" })).summary).toMatchObject({ committed: true, updated: 1 });
    expect((await bring("payouts", { ...rail, status: "paid" })).summary).toMatchObject({ committed: true, updated: 1 });
    expect(await outbox()).toEqual([]);
    // Nor does the import switch anything off for others.
    await setStatus("submissions", review.id, "rejected");
    expect(await types()).toEqual(["submission.rejected"]);
  });

  it("other changes of the record, the same status again, or other statuses", async () => {
    const [review, rail, show] = [submission({ status: "approved" }), payout(), campaign()];
    await bring("submissions", review, submission({ id: "sub_pending" }));
    await bring("payouts", rail);
    await bring("campaigns", show);
    await setStatus("submissions", review.id, "approved", ", views = 5000");
    await db.query("update records.submissions set views = 6000 where id = $1", [review.id]);
    await setStatus("submissions", "sub_pending", "withdrawn");
    await setStatus("payouts", rail.id, "failed");
    await setStatus("campaigns", show.id, "ended");
    expect(await outbox()).toEqual([]);
  });
});

describe("brand_records.events", () => {
  /** Approves a submission in a transaction that begins with `statement`. Resolves to the types of the events it made. */
  async function approveAfter(statement: string): Promise<string[]> {
    const record = submission();
    await bring("submissions", record);
    await db.transaction(async (sql) => {
      await sql.query(statement);
      await sql.query("update records.submissions set status = 'approved' where brand_id = $1 and id = $2", [brand, record.id]);
    });
    return types();
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
  ])("sends events after: %s", async (statement) => {
    expect(await approveAfter(statement)).toEqual(["submission.approved"]);
  });

  it.each([
    "set local brand_records.events = off",
    "set local brand_records.events to off",
    // Without quotes it is a word, and Postgres writes words in small letters.
    "set local brand_records.events = OFF",
    "set local brand_records.events = 'off'",
    "select set_config('brand_records.events', 'off', true)",
  ])("sends none after: %s", async (statement) => {
    expect(await approveAfter(statement)).toEqual([]);
  });

  const unquoted = "false FALSE true no yes none disable disabled 0 1 -1 f n offf silent".split(" ");
  const quoted = [
    "'OFF'",
    "'Off'",
    "'ON'",
    "'On'",
    "'off '",
    "' off'",
    "' '",
    "'false'",
    "'0'",
    "'null'",
    "'\toff'",
    "'off;'",
    "'\"off\"'",
    '"OFF"',
  ];
  it.each([...unquoted, ...quoted])(
    "refuses the change, and says what is right, after: set local brand_records.events = %s",
    async (value) => {
      await expect(approveAfter(`set local brand_records.events = ${value}`)).rejects.toMatchObject({
        code: "22023",
        message: expect.stringMatching(/^brand_records\.events is ".*": it must be on or off$/s),
        hint: expect.stringContaining("set local brand_records.events = off"),
      });
      expect(await types()).toEqual([]);
      const [row] = await served.list(brand, "submissions");
      expect(row?.status).toBe("pending");
    },
  );

  it("is on again in the next transaction of the same connection", async () => {
    const one = openPool({ url: served.url, max: 1, applicationName: "outbox test" });
    const record = submission();
    await bring("submissions", record);
    await one.transaction(async (sql) => {
      await sql.query("set local brand_records.events = off");
      await sql.query("update records.submissions set status = 'rejected' where id = $1", [record.id]);
    });
    await one.query("update records.submissions set status = 'approved' where id = $1", [record.id]);
    await one.stop();
    expect(await types()).toEqual(["submission.approved"]);
  });
});

describe("a status", () => {
  it("goes only where it can go, whoever writes; the error names the record and both statuses", async () => {
    const record = submission({ status: "withdrawn" });
    await bring("submissions", record);
    await expect(setStatus("submissions", record.id, "approved")).rejects.toMatchObject({
      code: "23514",
      message: `submissions ${record.id}: status cannot change from withdrawn to approved`,
    });
    expect(await outbox()).toEqual([]);
  });

  it.each([
    ["campaigns", ["draft", "pending_funding", "active", "paused", "ended", "settled", "cancelled"]],
    ["submissions", ["pending", "approved", "rejected", "withdrawn"]],
    ["payouts", ["pending", "processing", "paid", "failed", "cancelled", "reversed"]],
    ["deposits", ["pending", "succeeded", "failed", "expired", "refunded"]],
    ["conversions", ["pending", "approved", "reversed"]],
    ["links", ["active", "paused", "disabled", "expired"]],
  ])("of %s is one of those the transitions name", async (resource, statuses) => {
    const rows = await db.query<{ status: string }>(
      `select from_status as status from records.status_transitions where resource = $1
       union select to_status from records.status_transitions where resource = $1`,
      [resource],
    );
    expect(rows.map(({ status }) => status).toSorted()).toEqual(statuses.toSorted());
  });
});

it("leaves updated_at to the database where the writer does not set it", async () => {
  const record = submission();
  await bring("submissions", record);
  const updatedAt = async () => (await served.list(brand, "submissions"))[0]?.updated_at;
  await setStatus("submissions", record.id, "approved");
  expect(await updatedAt()).not.toBe(record.updated_at);
  await setStatus("submissions", record.id, "rejected", ", updated_at = '2026-11-22 00:00:00+00'");
  expect(await updatedAt()).toBe("2026-11-22T00:00:00.000Z");
  await bring("submissions", { ...record, views: 1 });
  expect(await updatedAt()).toBe(record.updated_at);
});

it("makes ids as everybody else does: of the time, in order, never twice", async () => {
  const [{ id } = { id: "" }] = await db.query<{ id: string }>("select records.new_id('evt', '2026-11-21 08:30:00.123+00') as id");
  const same = newId("evt", Date.parse("2026-11-21T08:30:00.123Z"));
  expect(id.slice(0, 14)).toBe(same.slice(0, 14));
  const rows = await db.query<{ id: string }>(
    "select records.new_id('evt', timestamptz '2026-01-01' + n * interval '1 ms') as id from generate_series(1, 1000) n order by n",
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

describe("a writer of the platform, with no rights but those on the tables", () => {
  it("makes events, and can neither read nor write the outbox, nor make an event of its own", async () => {
    const record = submission();
    await bring("submissions", record);
    const role = `platform_${newId("x").slice(2)}`;
    await db.query(`create role ${role} login password 'pw'`);
    await db.query(`grant usage on schema records to ${role}; grant select, update on records.submissions to ${role}`);
    const as = await db.transaction(async (sql) => {
      await sql.query(`set local role ${role}`);
      await sql.query("update records.submissions set status = 'approved' where id = $1", [record.id]);
      return true;
    });
    expect(as).toBe(true);
    expect(await types()).toEqual(["submission.approved"]);
    for (const forbidden of [
      "select * from records.outbox",
      "delete from records.outbox",
      "select records.emit('payout.paid', 'brd_1', 'po_1', '{}')",
    ]) {
      const trying = db.transaction(async (sql) => {
        await sql.query(`set local role ${role}`);
        await sql.query(forbidden);
      });
      await expect(trying).rejects.toMatchObject({ code: "42501" });
    }
    await db.query(`drop owned by ${role}; drop role ${role}`);
  });
});
