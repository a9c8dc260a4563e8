import { openPool } from "@brand-records/postgres";
import { eventually } from "@brand-records/testkit";
import { serveClaims, type ServedClaims } from "../../test/serve-claims.ts";
import { lockLanes } from "./lanes.ts";
import { addToLanes, lockAndReadLanes, updateLanes } from "./locked-lanes.ts";

/** One promise: while an older snapshot is open, as a dump's, a lane that is updated all the time costs little. */

const LANES = 20;
/** Each makes two versions of each lane. */
const ROUNDS = 150;
const VERSIONS = 2 * ROUNDS;

let served: ServedClaims;
let ids: string[];
beforeEach(async () => {
  served = await serveClaims();
  const others: string[] = [];
  for (let n = 1; n < LANES; n += 1) others.push((await served.sending.createReceiver("http://127.0.0.1:1/")).id);
  ids = [served.receiver.id, ...others];
});
afterEach(() => served.stop());

async function blocksOf(statement: string, values: readonly unknown[]): Promise<number> {
  const [row] = await served.db.query<{ "QUERY PLAN": [{ Plan: { "Shared Hit Blocks": number; "Shared Read Blocks": number } }] }>(
    `explain (analyze, buffers, format json) ${statement}`,
    values,
  );
  const plan = row?.["QUERY PLAN"][0].Plan;
  return (plan?.["Shared Hit Blocks"] ?? 0) + (plan?.["Shared Read Blocks"] ?? 0);
}

/** Changes lanes as a batch of first attempts and the batch of their results do. */
async function changeAll(): Promise<void> {
  await served.db.transaction(async (sql) => {
    const rows = await lockLanes(sql, ids);
    await addToLanes(
      sql,
      rows.map((row) => ({ ...row, leased: 1, waiting: 0 })),
    );
  });
  await served.db.transaction(async (sql) => {
    const lanes = await lockAndReadLanes(sql, ids, Date.now);
    await updateLanes(
      sql,
      lanes.map((lane) => ({
        receiverId: lane.receiverId,
        ctid: lane.ctid,
        lane,
        ended: 1,
        openSeconds: undefined,
        hasOpened: false,
        dueInSeconds: undefined,
      })),
    );
  });
}

it(`${VERSIONS} versions of a lane are behind few index entries, and a locked one is changed without a visit to them`, async () => {
  const older = openPool({ url: served.sending.databaseUrl, max: 1, applicationName: "older snapshot" });
  try {
    await older.query("begin isolation level repeatable read");
    await older.query("select count(*) from webhook.lanes");
    for (let round = 1; round <= ROUNDS; round += 1) await changeAll();
    const lanes = await served.db.query<{ ctid: string }>("select ctid from webhook.lanes where receiver_id = any ($1)", [ids]);
    // The mean: one lane has a block more or less than another, by its place in a page. Without room in its page each version has an entry.
    let blocks = 0;
    for (const id of ids) blocks += await blocksOf("select from webhook.lanes where receiver_id = $1", [id]);
    expect(blocks / LANES).toBeLessThan(VERSIONS / 8);
    // The version of a lane whose page is just full goes to another page, and into every index.
    const changes: number[] = [];
    for (const { ctid } of lanes) changes.push(await blocksOf("update webhook.lanes set in_flight = 0 where ctid = $1::tid", [ctid]));
    expect(Math.min(...changes)).toBeLessThan(10);
  } finally {
    await older.stop();
  }
});

it("a transaction that waited for a lane finds it where the other one moved it", async () => {
  const other = openPool({ url: served.sending.databaseUrl, max: 1, applicationName: "other" });
  try {
    let waiting: Promise<void> | undefined;
    await other.transaction(async (sql) => {
      await sql.query("update webhook.lanes set in_flight = 5 where receiver_id = $1", [ids[0]]);
      waiting = changeAll();
      await eventually(async () => {
        const blocked = await sql.query("select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'claims'");
        expect(blocked).toHaveLength(1);
      });
    });
    await waiting;
    expect(await other.query("select in_flight from webhook.lanes where receiver_id = $1", [ids[0]])).toEqual([{ in_flight: 5 }]);
  } finally {
    await other.stop();
  }
});
