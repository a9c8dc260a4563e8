import { benchProgram, type OptionValues, type Owned } from "../harness/bench-program.ts";
import { findBuild } from "../harness/programs.ts";
import { compareBuilds, reportComparison, type Comparison } from "./compare-builds.ts";
import { startEnvironment } from "./environment.ts";
import { measure, type WebhookResult } from "./measure.ts";
import { PROGRAMS } from "./product.ts";
import { report } from "./report.ts";
import { AGAINST_ROUNDS } from "./settings.ts";

const USAGE = `npm run bench:webhooks -- [--json FILE] [--against FOLDER]

  Measures rate and latency from outbox rows to recorded 2xx, and the effect on the others of receivers that hang or are far
  behind, of a deleted backlog and of a dump. About twelve minutes; what other programs disturb is repeated.

  --json FILE        writes all results
  --against FOLDER   measures bursts alone, of this checkout and of FOLDER in turn: ${AGAINST_ROUNDS} rounds, about seven minutes
`;

const OPTIONS = { against: { type: "string" } } as const;

type Result = WebhookResult | Comparison;

await benchProgram<Result>({ usage: USAGE, options: OPTIONS, run, report: reportAny });

function reportAny(result: Result): string {
  return "folders" in result ? reportComparison(result) : report(result);
}

async function run(owned: Owned, log: (text: string) => void, { against }: OptionValues): Promise<Result> {
  const build = findBuild("this", undefined, PROGRAMS);
  const other = against === undefined ? undefined : findBuild("other", against, PROGRAMS);
  log("Starting Postgres and Kafka");
  const environment = await startEnvironment(owned);
  if (other !== undefined) return compareBuilds(environment, { this: build, other }, log);
  const { receivers, start } = environment;
  return measure({ product: await environment.startProduct(build), receivers, start, log });
}
