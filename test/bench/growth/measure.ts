import { findBuild, type Program, type ProgramOptions, ROOT } from "../harness/programs.ts";
import { type BenchDatabase, migrateService } from "../harness/databases.ts";
import type { WebhookEnvironment } from "../webhooks/environment.ts";
import { PROGRAMS } from "../webhooks/product.ts";
import { measureClaims, measureLists } from "./webhook-queries.ts";
import type { Growth } from "./compare-sizes.ts";
import { loadConversions, measureImports } from "./conversions.ts";
import { fillDeliveries } from "./deliveries.ts";
import { type FilteredPageName, measureFilteredPages, measurePages, type RecordsSide } from "./pages.ts";
import { measureKeys } from "./keys.ts";
import { measureMemory, measureProcesses, type MemoryAfterLoad, type ProcessCount } from "./under-load.ts";
import {
  BRANDS_LARGE,
  CLAIMED_PER_LANE,
  FINISHED_LARGE,
  FINISHED_SMALL,
  MEMORY_MINUTES,
  RATIO_MAX,
  RECEIVERS_LARGE,
  RECEIVERS_SMALL,
  RECORDS_LARGE,
  RECORDS_SMALL,
} from "./settings.ts";
import { scriptIn } from "../../program-script.ts";

/** Those whose time may grow by RATIO_MAX at most. */
const BOUND = ["first_page", "deep_page", "verify_key", "claim_with_receivers", "claim_with_finished"] as const;
const REPORTED = ["import", "list_all", "list_failed", "list_of_type"] as const;
type BoundName = (typeof BOUND)[number];
export type GrowthName = BoundName | (typeof REPORTED)[number];

export interface GrowthResult {
  readonly growth: Readonly<Record<GrowthName, Growth>>;
  /** Large to small, of times; those with an upper bound first. */
  readonly ratios: Readonly<Record<GrowthName, { readonly ratio: number; readonly at_most?: number }>>;
  /** Pages with filters, and those without that they are compared with. */
  readonly filtered: Readonly<Record<FilteredPageName, Growth>>;
  readonly processes: readonly ProcessCount[];
  readonly memory: MemoryAfterLoad;
  readonly load_seconds: Readonly<Record<string, number>>;
}

type Parts = WebhookEnvironment & { readonly log: (text: string) => void };

export async function measureGrowth(parts: Parts): Promise<GrowthResult> {
  const { log, receivers } = parts;
  const load_seconds: Record<string, number> = {};
  const timed = async <T>(name: string, load: () => Promise<T>): Promise<T> => {
    log(`  loading ${name}`);
    const startedAt = performance.now();
    const loaded = await load();
    load_seconds[name] = (performance.now() - startedAt) / 1_000;
    return loaded;
  };
  const { filtered, ...records } = await measureRecords(parts, timed);
  log("  keys");
  const verify_key = await timed("brands", () => measureKeys(parts.createDatabase, BRANDS_LARGE, parts.start));
  const webhook = await measureWebhook(parts, timed);
  log("  processes and memory");
  const product = await parts.startProduct(findBuild("this", undefined, PROGRAMS));
  const processes = await measureProcesses(product, receivers, log);
  const memory = await measureMemory(product, receivers, MEMORY_MINUTES);
  const growth = { ...records, verify_key, ...webhook };
  return { growth, ratios: ratiosOf(growth), filtered, processes, memory, load_seconds };
}

type Timed = <T>(name: string, load: () => Promise<T>) => Promise<T>;

type RecordsGrowth = Record<"first_page" | "deep_page" | "import", Growth> & Pick<GrowthResult, "filtered">;

async function measureRecords(parts: Parts, timed: Timed): Promise<RecordsGrowth> {
  const { createDatabase, start, log } = parts;
  const small = await timed("conversions, small", () => loadRecords(createDatabase, "records_small", RECORDS_SMALL, log));
  const large = await timed("conversions, large", () => loadRecords(createDatabase, "records_large", RECORDS_LARGE, log));
  const sides = [await serveRecords(small, "records-small", start), await serveRecords(large, "records-large", start)] as const;
  const pages = await measurePages(...sides);
  const filtered = await measureFilteredPages(...sides);
  for (const { program } of sides) await program.stop();
  return { ...pages, filtered, import: await measureImports(small, large) };
}

async function loadRecords(
  createDatabase: Parts["createDatabase"],
  name: string,
  count: number,
  log: Parts["log"],
): Promise<BenchDatabase> {
  const database = await createDatabase(name);
  await migrateService(database, "records");
  await loadConversions(database, count, log);
  return database;
}

async function serveRecords(
  database: BenchDatabase,
  name: string,
  start: (program: ProgramOptions) => Program,
): Promise<RecordsSide & { readonly program: Program }> {
  const env = { DATABASE_URL: database.databaseUrl, STOP_GRACE_MS: "0" };
  const program = start({ name, script: scriptIn(ROOT, "records"), env });
  const { rpc_port } = (await program.ready) as { rpc_port: number };
  return { database, address: `127.0.0.1:${rpc_port}`, program };
}

type WebhookName = "claim_with_receivers" | "claim_with_finished" | "list_all" | "list_failed" | "list_of_type";

async function measureWebhook({ createDatabase }: Parts, timed: Timed): Promise<Record<WebhookName, Growth>> {
  const load = (name: string, receivers: number, finished: number): Promise<BenchDatabase> =>
    timed(`deliveries, ${name}`, async () => {
      const database = await createDatabase(`deliveries_${name}`);
      await fillDeliveries(database, { receivers, pending: RECEIVERS_LARGE * CLAIMED_PER_LANE, finished });
      return database;
    });
  const few = await load("few", RECEIVERS_SMALL, FINISHED_SMALL);
  const receivers = await load("receivers", RECEIVERS_LARGE, FINISHED_SMALL);
  const claim_with_receivers = await measureClaims(few, receivers);
  const finished = await load("finished", RECEIVERS_SMALL, FINISHED_LARGE);
  const claim_with_finished = await measureClaims(few, finished);
  const { all, failed, of_type } = await measureLists(few, finished);
  return { claim_with_receivers, claim_with_finished, list_all: all, list_failed: failed, list_of_type: of_type };
}

function ratiosOf(growth: GrowthResult["growth"]): GrowthResult["ratios"] {
  const bound = BOUND.map((name) => [name, { ratio: growth[name].time_ratio, at_most: RATIO_MAX }] as const);
  const reported = REPORTED.map((name) => [name, { ratio: growth[name].time_ratio }] as const);
  return Object.fromEntries([...bound, ...reported]) as GrowthResult["ratios"];
}
