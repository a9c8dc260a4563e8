import { benchProgram, type OptionValues, type Owned } from "../harness/bench-program.ts";
import { startEnvironment } from "../webhooks/environment.ts";
import { measureGrowth, type GrowthResult } from "./measure.ts";
import { report } from "./report.ts";
import { DEFAULT_SIZES, readSizes } from "./settings.ts";

const USAGE = `npm run bench:growth -- [--json FILE] [--records N] [--brands N] [--receivers N] [--finished N] [--memory-minutes N]

  Measures what grows with the data: pages, imports, keys, claims and lists, each on little data and on much, alternately; webhook
  with one, two and four processes; memory after minutes of load.

  --json FILE          writes all results
  --records N          conversions of the large side. Default: ${DEFAULT_SIZES.records}
  --brands N           brands of the large side. Default: ${DEFAULT_SIZES.brands}
  --receivers N        receivers of the large side. Default: ${DEFAULT_SIZES.receivers}
  --finished N         finished deliveries of the large side. Default: ${DEFAULT_SIZES.finished}
  --memory-minutes N   Default: ${DEFAULT_SIZES.memoryMinutes}
`;

const OPTIONS = {
  records: { type: "string" },
  brands: { type: "string" },
  receivers: { type: "string" },
  finished: { type: "string" },
  "memory-minutes": { type: "string" },
} as const;

await benchProgram<GrowthResult>({ usage: USAGE, options: OPTIONS, run, report });

async function run(owned: Owned, log: (text: string) => void, options: OptionValues): Promise<GrowthResult> {
  const sizes = readSizes(options);
  log("Starting Postgres and Kafka");
  return measureGrowth({ ...(await startEnvironment(owned)), sizes, log });
}
