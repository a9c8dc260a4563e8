import { setTimeout as pause } from "node:timers/promises";
import { eventually, startKafkaServer, type KafkaServer } from "@brand-records/testkit";
import { metricOf } from "../admin-port.ts";
import type { TestBrand } from "../stack.ts";
import { Cells, type RunningCell } from "./cells-harness.ts";
import { startLedgerHarness, type LedgerHarness } from "./ledger-harness.ts";

/**
 * One promise: brands that move between three cells lose no event and no record, and every walk along a cursor reads each record once,
 * whatever is killed meanwhile.
 *
 * `LEDGER_CHANGES=100000 LEDGER_KILLS=5 LEDGER_PAGES=50000 npx jest ledger-moves --selectProjects release` takes half an hour.
 */

const CHANGES = Number(process.env["LEDGER_CHANGES"] ?? 4_000);
/** Of each part of the system. */
const KILLS = Number(process.env["LEDGER_KILLS"] ?? 1);
/** Read while brands move and nothing is killed. */
const PAGES = Number(process.env["LEDGER_PAGES"] ?? 1_000);
const CHANGES_PER_SECOND = Number(process.env["LEDGER_RATE"] ?? 60);
const BRANDS = 10;
const RECORDS_PER_BRAND = 60;
/** Some of a brand's 54 submissions. */
const PAGE_SIZE = 10;
const MOVE_EVERY_MS = 6_000;
const CLOSED_MS_MAX = 5_000;
const TIME_MAX_MS = 900_000 + (CHANGES * 2_000) / CHANGES_PER_SECOND;

let kafka: KafkaServer;
let cells: Cells;
let harness: LedgerHarness;

beforeAll(async () => {
  kafka = await startKafkaServer();
  cells = await Cells.start(kafka.brokers);
  harness = await startLedgerHarness({
    brokers: kafka.brokers,
    changes: CHANGES,
    rounds: 1,
    brands: BRANDS,
    recordsPerBrand: RECORDS_PER_BRAND,
    changesPerSecond: CHANGES_PER_SECOND,
    caughtUpWithinMs: 180_000,
    deliveredWithinMs: TIME_MAX_MS,
    receiversAccept: true,
    // A transaction takes four round trips, each as long as a busy machine makes it.
    writers: 16,
    stackOptions: cells.stackOptions,
    write: (...written) => cells.write(...written),
    prepare: (stack) => cells.join(stack),
  });
}, TIME_MAX_MS);
afterAll(async () => {
  await harness.stop();
  await cells.stop();
  await kafka.stop();
});

/** Where the brand of a move goes. */
interface Move {
  readonly brand: TestBrand;
  readonly from: RunningCell;
  readonly to: RunningCell;
  killMover(): void;
}
const homes = new Map<TestBrand, number>();
const moved = { begun: 0, aborted: 0, resumed: 0 };
const closedMs: number[] = [];
const running = new Set<Promise<void>>();
let failure: unknown;

/** Begins a move of the next brand that does not move, and sees it through: after a failure it goes on, or every other time is taken back. */
function beginMove(): Move {
  const brand = harness.ledger.brands.find((each) => !moving.has(each)) as TestBrand;
  const at = homes.get(brand) ?? 0;
  const next = (at + 1 + (moved.begun % 2)) % cells.all.length;
  const [from, to] = [cells.all[at], cells.all[next]] as [RunningCell, RunningCell];
  // The one that rested longest is next.
  harness.ledger.brands.push(...harness.ledger.brands.splice(harness.ledger.brands.indexOf(brand), 1));
  let kill = (): void => {};
  moving.add(brand);
  moved.begun += 1;
  const work = (async () => {
    let { code, output } = await cells.move(brand.id, ["--to", to.name], (killIt) => (kill = killIt));
    const mayAbort = moved.begun % 2 === 0;
    for (let tries = 0; code !== 0; tries += 1) {
      if (tries === 60) throw new Error(`a move does not end: ${output}`);
      if (/The brand is not being moved|"not_found"/.test(output)) break;
      await pause(1_000);
      const abort = mayAbort && tries % 2 === 0;
      ({ code, output } = await cells.move(brand.id, [abort ? "--abort" : "--resume"]));
      if (code === 0) moved[abort ? "aborted" : "resumed"] += 1;
      if (code === 0 && abort) return;
    }
    if (code === 0) homes.set(brand, next);
    closedMs.push(...[...output.matchAll(/"closed_ms":([\d.]+)/g)].map(([, ms]) => Number(ms)));
  })();
  const ended = work
    .catch((error: unknown) => void (failure ??= error))
    .finally(() => {
      moving.delete(brand);
      running.delete(ended);
    });
  running.add(ended);
  return { brand, from, to, killMover: () => kill() };
}
const moving = new Set<TestBrand>();
const untilSomeRest = (): Promise<void> => eventually(() => expect(moving.size).toBeLessThan(BRANDS - 1), { timeoutMs: 120_000 });

/** Counts of answers by their status, walks, and what was wrong with a page or a walk. */
const read = { pages: 0, walks: 0, refused: new Map<string, number>(), wrong: [] as string[] };

/** Walks along the submissions of brands, again and again, from either gateway. */
async function walk(reader: number, isOver: () => boolean): Promise<void> {
  const { brands } = harness.ledger;
  for (let turn = reader; !isOver(); turn += 1) {
    const brand = brands[turn % brands.length] as TestBrand;
    const expected = submissions.get(brand.id) as string[];
    const seen: string[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined;) {
      const query: string = `limit=${PAGE_SIZE}${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
      // A gateway that is killed may end a body, too.
      const [status, text] = await harness.stack
        .get(`/api/v1/submissions?${query}`, brand.key, turn % 2)
        .then(async (page) => [String(page.status), await page.text()] as const)
        .catch(() => ["no connection", ""] as const);
      if (status !== "200") {
        read.refused.set(status, (read.refused.get(status) ?? 0) + 1);
        await pause(50);
        continue;
      }
      const body = JSON.parse(text) as { data: { id: string }[]; next_cursor?: string };
      read.pages += 1;
      seen.push(...body.data.map(({ id }) => id));
      cursor = body.next_cursor;
    }
    read.walks += 1;
    if (JSON.stringify(seen.toSorted()) !== JSON.stringify(expected)) read.wrong.push(`${brand.id}: ${seen.length} of ${expected.length}`);
  }
}
let submissions: ReadonlyMap<string, string[]>;

const report = (title: string, found: object): void => void process.stdout.write(`${title}: ${JSON.stringify(found)}\n`);

it(
  `reads ${PAGES.toLocaleString("en")} pages while brands move, each with 200 and every walk complete`,
  async () => {
    submissions = new Map(harness.ledger.brands.map(({ id }) => [id, harness.ledger.submissionsOf(id).toSorted()]));
    const isOver = (): boolean => read.pages >= PAGES;
    const reading = Promise.all([0, 1, 2, 3].map((reader) => walk(reader, isOver)));
    while (!isOver()) {
      beginMove();
      await Promise.race([reading, pause(MOVE_EVERY_MS)]);
      await untilSomeRest();
    }
    await reading;
    await Promise.all(running);
    report("read while brands moved", {
      ...read,
      refused: Object.fromEntries(read.refused),
      moves: moved.begun,
      closed_ms_max: Math.max(...closedMs),
    });
    expect({ failure, wrong: read.wrong, refused: [...read.refused] }).toEqual({ failure: undefined, wrong: [], refused: [] });
  },
  TIME_MAX_MS + PAGES * 50,
);

const IS_MOVING = "select from accounts.brand_moves where brand_id = $1";

async function killServer({ server }: RunningCell): Promise<void> {
  await server.kill();
  await server.start();
}

/** By what is killed. Each is started again at once. */
const KILLED: Readonly<Record<string, (move: Move) => Promise<unknown>>> = {
  mover: async ({ killMover }) => killMover(),
  relay: ({ from }) => cells.restartRecords(from),
  source: ({ from }) => killServer(from),
  target: ({ to }) => killServer(to),
  accounts: async () => {
    await harness.stack.processes.accounts.kill("SIGKILL");
    await harness.stack.restart("accounts");
  },
  gateway: async () => {
    await harness.stack.gateways[0].process.kill("SIGKILL");
    await harness.stack.restart("gateway");
  },
};

it(
  `delivers ${CHANGES.toLocaleString("en")} changes once and in order while brands move, and each part of the system is killed`,
  async () => {
    let isWriting = true;
    const writing = harness.write().finally(() => (isWriting = false));
    const readers = Promise.all([0, 1].map((reader) => walk(reader, () => !isWriting)));
    const kills = Array.from({ length: KILLS }, () => Object.entries(KILLED)).flat();
    const total = kills.length;
    const killed: Record<string, number> = {};
    while (isWriting || kills.length > 0) {
      const move = beginMove();
      // Spread over all changes.
      const isDue =
        !isWriting || Object.values(killed).reduce((sum, times) => sum + times, 0) <= (total * harness.ledger.changes) / CHANGES;
      const [name, kill] = (isDue ? kills.shift() : undefined) ?? [];
      // Somewhere in the first seconds after it has begun: they have most of its steps.
      if (kill !== undefined) {
        await eventually(async () => expect(await harness.ledger.db.query(IS_MOVING, [move.brand.id])).toHaveLength(1), {
          timeoutMs: 60_000,
        });
        await pause(Math.random() * 3_000);
      }
      await kill?.(move);
      if (name !== undefined) killed[name] = (killed[name] ?? 0) + 1;
      await Promise.race([writing, pause(MOVE_EVERY_MS / 2)]);
      await untilSomeRest();
    }
    await writing;
    await readers;
    await Promise.all(running);
    await harness.untilCaughtUp();
    await harness.untilDelivered();
    const doubled = harness.ledger.duplicates().length;
    const deliveries = await harness.count("webhook.past_deliveries");
    const published_twice = await metricOf(harness.stack.processes.webhook, "intake_repeated_total");
    const found = { changes: harness.ledger.changes, deliveries, doubled, published_twice, killed, ...moved };
    const reads = { pages: read.pages, walks: read.walks, refused: Object.fromEntries(read.refused), wrong: read.wrong.length };
    report("ledger", { ...found, ...reads, refused_ms_max: Math.round(cells.closedMs), closed_ms: closedMs.map(Math.round) });
    expect({ failure, problems: await harness.problems(), left: await cells.leftovers(), wrong: read.wrong }).toEqual({
      failure: undefined,
      problems: [],
      left: [],
      wrong: [],
    });
    expect(doubled + published_twice).toBeLessThanOrEqual(Math.max(20, 0.002 * deliveries));
    expect([...read.refused.keys()].filter((what) => !["503", "504", "no connection"].includes(what))).toEqual([]);
    expect(Math.max(cells.closedMs, ...closedMs)).toBeLessThan(CLOSED_MS_MAX);
  },
  TIME_MAX_MS,
);
