import { benchProgram, type OptionValues } from "../bench-program.ts";
import type { Owned } from "../owned.ts";
import { findBuild } from "./build.ts";
import { compareBuilds, type Comparison } from "./compare-builds.ts";
import { startEnvironment } from "./environment.ts";
import { measure, type WebhookResult } from "./measure.ts";
import { report } from "./report.ts";
import { reportComparison } from "./report-comparison.ts";
import { AGAINST_ROUNDS } from "./settings.ts";

const USAGE = `npm run bench:webhooks -- [--json FILE] [--dist FOLDER] [--against FOLDER]

  Measures rate and latency from outbox rows to recorded 2xx, and the effect on the others of receivers that hang or are far
  behind, of a deleted backlog and of a dump. About eleven minutes.

  --json FILE        writes all results
  --dist FOLDER      measures the programs of another checkout, which must be built
  --against FOLDER   measures bursts alone, of this checkout (or of --dist) and of FOLDER in turn: ${AGAINST_ROUNDS} rounds, about five minutes
`;

const OPTIONS = { dist: { type: "string" }, against: { type: "string" } } as const;

await benchProgram<WebhookResult | Comparison>({
  usage: USAGE,
  options: OPTIONS,
  run,
  report: (result) => ("folders" in result ? reportComparison(result) : report(result)),
});

async function run(owned: Owned, log: (text: string) => void, { dist, against }: OptionValues): Promise<WebhookResult | Comparison> {
  const build = findBuild("this", dist);
  const other = against === undefined ? undefined : findBuild("other", against);
  log("Starting Postgres and Kafka");
  const environment = await startEnvironment(owned);
  if (other !== undefined) return compareBuilds(environment, { this: build, other }, log);
  const { receivers, start } = environment;
  return measure({ product: await environment.startProduct(build), receivers, start, log });
}
