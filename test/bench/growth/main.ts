import { benchProgram } from "../harness/bench-program.ts";
import { startEnvironment } from "../webhooks/environment.ts";
import { measureGrowth, type GrowthResult } from "./measure.ts";
import { report } from "./report.ts";

const USAGE = `npm run bench:growth -- [--json FILE]

  Measures what grows with the data: pages, imports, keys, claims and lists, each on little data and on much, alternately; webhook
  with one, two and four processes; memory after minutes of load.

  --json FILE   writes all results
`;

await benchProgram<GrowthResult>({
  usage: USAGE,
  async run(owned, log) {
    log("Starting Postgres and Kafka");
    return measureGrowth({ ...(await startEnvironment(owned)), log });
  },
  report,
});
