import { eventually, startKafkaServer, type KafkaServer } from "@brand-records/testkit";
import { startLedgerHarness, type LedgerHarness } from "./ledger-harness.ts";

/**
 * One promise: nothing is missing or stuck, and a kill doubles little, when every thousand changes a process is killed or the connections to
 * Postgres are cut, and nothing waits in between.
 *
 * `LEDGER_CHANGES=200000 npx jest ledger-interrupted --selectProjects full` takes half an hour.
 */

const CHANGES = Number(process.env["LEDGER_CHANGES"] ?? 4_000);
const CHANGES_PER_FAULT = 1_000;
const CHANGES_PER_SECOND = 400;
/** Every second receiver takes one attempt at a time, of which one in nine hangs for a second: 8,000 changes take it some twenty minutes. */
const BRANDS = Math.max(25, CHANGES / 8_000);
/** Each changes every second, so that a swap of any two events of a brand shows as one of a record's. */
const RECORDS_PER_BRAND = 20;
/** A killed webhook loses the results of one batch at most that receivers have accepted; about 20 at this rate. */
const DOUBLED_PER_KILL_MAX = 256;
/**
 * A webhook that is killed every ten seconds waits for its partitions most of the time: after a million changes it was 657,000 events
 * behind. A minute does for 200,000 changes.
 */
const CAUGHT_UP_MAX_MS = 60_000 + Math.max(0, CHANGES - 200_000);
/** Four hours and twenty minutes for a million. */
const TIME_MAX_MS = 600_000 + CHANGES * 15;

let kafka: KafkaServer;
let harness: LedgerHarness;

beforeAll(async () => {
  kafka = await startKafkaServer();
  harness = await startLedgerHarness({
    brokers: kafka.brokers,
    changes: CHANGES,
    rounds: CHANGES / CHANGES_PER_FAULT,
    brands: BRANDS,
    recordsPerBrand: RECORDS_PER_BRAND,
    changesPerSecond: CHANGES_PER_SECOND,
    caughtUpWithinMs: CAUGHT_UP_MAX_MS,
    deliveredWithinMs: TIME_MAX_MS,
  });
}, TIME_MAX_MS);
afterAll(async () => {
  await harness.stop();
  await kafka.stop();
});

/** When webhook was killed, in milliseconds since the epoch. */
const killedAt: number[] = [];

async function killAndRestart(service: "records" | "webhook"): Promise<void> {
  if (service === "webhook") killedAt.push(Date.now());
  await harness.stack.processes[service].kill("SIGKILL");
  await harness.stack.restart(service);
}

/** Time that passed until webhook was killed next. */
const beforeKill = ({ at }: { readonly at: number }): number => (killedAt.find((time) => time >= at) ?? Number.NaN) - at;

const FAULTS: readonly (() => Promise<unknown>)[] = [
  () => killAndRestart("webhook"),
  () =>
    harness.ledger.db.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'platform'",
    ),
  () => killAndRestart("records"),
];

it(
  `delivers ${CHANGES.toLocaleString("en")} changes with a fault every ${CHANGES_PER_FAULT.toLocaleString("en")}`,
  async () => {
    let faults = 0;
    while (harness.ledger.changes < CHANGES) {
      const middle = harness.ledger.changes + CHANGES_PER_FAULT / 2;
      const writing = harness.write();
      await eventually(() => expect(harness.ledger.changes).toBeGreaterThan(middle), { timeoutMs: 60_000, everyMs: 1 });
      await FAULTS[faults % FAULTS.length]?.();
      faults += 1;
      await writing;
    }
    await harness.untilCaughtUp();
    await harness.untilDelivered();
    const doubled = harness.ledger.duplicates();
    const deliveries = await harness.count("webhook.past_deliveries");
    const overlaps = harness.ledger.overlaps();
    process.stdout.write(
      `${CHANGES} changes, ${faults} faults: ${deliveries} deliveries, ${doubled.length} accepted twice, ${overlaps} at once\n`,
    );
    process.stdout.write(
      `Accepted before a kill, in ms: ${doubled
        .map(beforeKill)
        .toSorted((a, b) => a - b)
        .join(" ")}\n`,
    );
    expect(await harness.problems()).toEqual([]);
    expect(doubled.length).toBeLessThanOrEqual(DOUBLED_PER_KILL_MAX * Math.ceil(faults / FAULTS.length));
  },
  TIME_MAX_MS,
);
