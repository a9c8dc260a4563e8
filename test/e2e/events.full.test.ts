import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { openPool, type Database } from "@brand-records/postgres";
import { IntakeServiceService, type Event } from "@brand-records/proto/webhook/v1";
import { connectRpc } from "@brand-records/rpc";
import { eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { publishToKafka } from "../kafka.ts";
import { seedBrand } from "../seed-brand.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: each change with an event type becomes one event, and one delivery for each receiver that selected it. */

const OLD = Date.UTC(1999, 0, 1);
/** 2 MiB + 1: far more than an event may have, or a broker accepts by default. */
const HUGE = Buffer.alloc(2 * 1024 * 1024 + 1, "x");

interface EventLog {
  readonly name: string;
  readonly brokers: string | undefined;
  /** Publishes a message as another producer would. */
  publish(stack: Stack, key: string, value: Buffer | string): Promise<void>;
}

const logs: EventLog[] = [
  {
    name: "Kafka",
    brokers: process.env["TEST_KAFKA_BROKERS"],
    publish: (stack, key, value) => publishToKafka(process.env["TEST_KAFKA_BROKERS"] ?? "", stack.topic, [{ key, value }]),
  },
  { name: "no Kafka", brokers: undefined, publish: publishDirectly },
];

describe.each(logs)("with $name", ({ brokers, publish }) => {
  let stack: Stack;
  let brand: TestBrand;
  let other: TestBrand;
  let db: Database;
  beforeAll(async () => {
    stack = await startStack(brokers === undefined ? {} : { kafkaBrokers: brokers });
    db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
    [brand, other] = await Promise.all([stack.createBrand(), stack.createBrand()]);
    await seedBrand(stack, brand.id, { campaigns: 5, submissions: 3_000, payouts: 500, deposits: 5, conversions: 5, links: 5 });
  });
  afterAll(async () => {
    await db.stop();
    await stack.stop();
  });

  const listEvents = async (type: string | null = null): Promise<Event[]> =>
    (await stack.events.listEvents({ brand_id: brand.id, type, page_size: 200, after_id: null, count_receivers: false }, callContext()))
      .events;
  const find = async (table: string, statuses: string): Promise<string> => {
    const [row] = await db.query<{ id: string }>(
      `select id from records.${table} where brand_id = $1 and status in (${statuses}) order by id limit 1`,
      [brand.id],
    );
    return row?.id ?? "";
  };
  const setStatus = (table: string, id: string, status: string) =>
    db.query(`update records.${table} set status = $3 where brand_id = $1 and id = $2`, [brand.id, id, status]);
  const addReceiver = async (events: string[], owner = brand): Promise<string> => {
    const { id: receiver_id } = await stack.addReceiver(owner, `https://receiver.example/${newId("x")}`, events);
    // The receiver's deliveries are held, so that the test can inspect them.
    await stack.receivers.disableReceiver({ brand_id: owner.id, receiver_id }, callContext());
    return receiver_id;
  };
  const deliveriesOf = (eventId: string | undefined) =>
    db.query<{ receiver_id: string }>("select receiver_id from webhook.deliveries where event_id = $1 order by receiver_id", [eventId]);

  it("makes no events for an import", async () => {
    expect(await db.query("select count(*) as waiting from records.outbox")).toEqual([{ waiting: 0 }]);
    expect(await listEvents()).toEqual([]);
  });

  it.each([
    ["submission.approved", "submissions", "'pending'", "approved"],
    ["submission.rejected", "submissions", "'pending'", "rejected"],
    ["payout.paid", "payouts", "'pending', 'processing'", "paid"],
    ["campaign.settled", "campaigns", "'ended'", "settled"],
  ])("delivers %s once to each receiver that selected it, and to no other", async (type, table, before, status) => {
    if (table === "campaigns")
      await db.query("update records.campaigns set status = 'ended' where brand_id = $1 and status in ('active', 'paused')", [brand.id]);
    // Some brands have no other that waits to be paid.
    if (table === "payouts")
      await db.query("update records.payouts set status = 'processing', failure_code = null where brand_id = $1 and status = 'failed'", [
        brand.id,
      ]);
    const [selecting, all, otherType] = [
      await addReceiver([type]),
      await addReceiver([...EVENT_TYPE_NAMES]),
      await addReceiver([type === "payout.paid" ? "campaign.settled" : "payout.paid"]),
    ];
    const theirs = await addReceiver([type], other);
    const id = await find(table, before);
    expect(id).not.toBe("");
    await setStatus(table, id, status);
    const events = await eventually(async () => {
      const found = (await listEvents(type)).filter((event) => JSON.parse(event.data_json).id === id);
      expect(found).toHaveLength(1);
      return found;
    });
    const [event] = events;
    expect(event).toMatchObject({ brand_id: brand.id, type, id: expect.stringMatching(/^evt_[0-9a-z]{26}$/) });
    expect(JSON.parse(event?.data_json ?? "")).toMatchObject({ resource: table, id, status });
    const chosen = (await deliveriesOf(event?.id)).map(({ receiver_id }) => receiver_id);
    expect(chosen).toEqual(expect.arrayContaining([selecting, all]));
    expect(chosen).not.toContain(otherType);
    expect(chosen).not.toContain(theirs);
    for (const receiver_id of [selecting, all, otherType])
      await stack.receivers.deleteReceiver({ brand_id: brand.id, receiver_id }, callContext());
  });

  it("delivers a transaction of ten thousand changes, each once and in the order of each record", async () => {
    const receiver = await addReceiver(["submission.approved", "submission.rejected"]);
    const before = await db.query<{ n: number }>("select count(*) as n from webhook.events");
    await db.query(
      `do $$ begin
         update records.submissions set status = 'approved' where brand_id = '${brand.id}' and id in (
           select id from records.submissions where brand_id = '${brand.id}' and status in ('pending', 'rejected') limit 2000);
         for i in 1..4 loop
           update records.submissions set status = case status when 'approved' then 'rejected' else 'approved' end
            where brand_id = '${brand.id}' and id in (
              select id from records.submissions where brand_id = '${brand.id}' and status in ('approved', 'rejected') order by id limit 2000);
         end loop;
       end $$`,
    );
    const [made] = await db.query<{ n: number }>(
      "select count(*) as n from records.submissions where brand_id = $1 and status in ('approved', 'rejected')",
      [brand.id],
    );
    expect(made?.n).toBeGreaterThan(2_000);
    await eventually(
      async () => {
        expect(await db.query("select count(*) as n from records.outbox")).toEqual([{ n: 0 }]);
        const [now] = await db.query<{ n: number }>("select count(*) as n from webhook.events");
        expect((now?.n ?? 0) - (before[0]?.n ?? 0)).toBeGreaterThanOrEqual(8_000);
        const [sent] = await db.query("select count(*) as n from webhook.deliveries where receiver_id = $1", [receiver]);
        expect(sent).toEqual({ n: (now?.n ?? 0) - (before[0]?.n ?? 0) });
      },
      { timeoutMs: 100_000 },
    );
    // Each change starts, in sending order, from the status in which the previous one ended.
    const broken = await db.query(
      `select from (
         select e.data->>'previous_status' as was, lag(e.data->>'status') over (partition by e.data->>'id' order by d.due_at, d.id) as before
           from webhook.deliveries d join webhook.events e on e.id = d.event_id where d.receiver_id = $1) steps
        where before is not null and was <> before`,
      [receiver],
    );
    expect(broken).toEqual([]);
    await stack.receivers.deleteReceiver({ brand_id: brand.id, receiver_id: receiver }, callContext());
  }, 180_000);

  it("keeps the trace of a change with its event", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const id = await find("submissions", "'approved'");
    await db.transaction(async (sql) => {
      await sql.query("select set_config('brand_records.traceparent', $1, true)", [traceparent]);
      await sql.query("update records.submissions set status = 'rejected' where brand_id = $1 and id = $2", [brand.id, id]);
    });
    await eventually(async () => {
      const [row] = await db.query(
        "select traceparent from webhook.events where data->>'id' = $1 order by created_at desc, id desc limit 1",
        [id],
      );
      expect(row).toEqual({ traceparent });
    });
  });

  it("dead-letters invalid messages with a reason, takes in the next one, and replays dead letters once they are valid", async () => {
    const now = Date.now();
    const event = (more: object = {}, data: object = {}) => ({
      id: newId("evt", now),
      type: "payout.paid",
      created_at: new Date(now).toISOString(),
      brand_id: brand.id,
      data: {
        resource: "payouts",
        id: "po_1",
        campaign_id: "cmp_1",
        status: "paid",
        previous_status: "processing",
        updated_at: new Date().toISOString(),
        amount_centavos: 1,
        fee_centavos: 0,
        currency: "PHP",
        submission_count: 1,
        conversion_count: 0,
        paid_at: null,
        ...data,
      },
      ...more,
    });
    const later = newId("brd");
    const good = event();
    const poison: [string, Buffer | string][] = [
      ["po_1", "{"],
      ["po_1", Buffer.from([0xff, 0xfe])],
      ["po_1", ""],
      ["po_1", JSON.stringify(event({ type: "payout.invented" }))],
      ["po_1", JSON.stringify(event({ brand_id: later }))],
      ["po_1", JSON.stringify(event({ id: newId("evt", OLD), created_at: new Date(OLD).toISOString() }))],
      ["po_2", JSON.stringify(event())],
      ["po_1", HUGE],
    ];
    for (const [key, value] of poison) await publish(stack, key, value);
    await publish(stack, "po_1", JSON.stringify(good));
    await eventually(async () => expect(await listEvents("payout.paid")).toContainEqual(expect.objectContaining({ id: good.id })));
    const { dead_letters: dead } = await eventually(async () => {
      const listed = await stack.events.listDeadLetters({ page_size: 50 }, callContext(30_000));
      expect(listed.total).toBe(poison.length);
      return listed;
    });
    expect(dead.map(({ reason }) => reason).toSorted()).toEqual([
      "created_at is over 30 days ago",
      "its key is not the record's id",
      "not JSON",
      "not JSON",
      "not UTF-8",
      "there is no such brand",
      "too large: 2097153 bytes, at most 20480",
      `type must be one of ${EVENT_TYPE_NAMES.join(", ")}`,
    ]);
    // Once the brand exists, its message can be taken in; the others still cannot.
    await stack.accounts.createBrand({ id: later, name: "Late", tier: "plus", verified: true }, callContext());
    expect(await stack.events.replayDeadLetters({}, callContext(60_000))).toEqual({ replayed: poison.length });
    await eventually(async () => {
      expect(await db.query("select type from webhook.events where brand_id = $1", [later])).toEqual([{ type: "payout.paid" }]);
      expect(await stack.events.listDeadLetters({ page_size: 50 }, callContext(30_000))).toMatchObject({ total: poison.length - 1 });
    });
  });
});

async function publishDirectly(stack: Stack, key: string, value: Buffer | string): Promise<void> {
  const intake = connectRpc(IntakeServiceService, stack.addresses.webhook);
  await intake.publishMessages({ messages: [{ key, value: Buffer.from(value), headers: {} }] }, callContext());
  intake.stop();
}
