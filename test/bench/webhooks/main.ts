import { openEnvironment } from "../harness/environment.ts";
import { benchProgram, type OptionValues, type Owned } from "../harness/bench-program.ts";
import { findBuild } from "../harness/programs.ts";
import { compareBuilds, reportComparison, type Comparison } from "./compare-builds.ts";
import { startEnvironment } from "./environment.ts";
import { measure, type WebhookResult } from "./measure.ts";
import { measurePeer, Outpost, type PeerResult, reportPeer } from "./peer.ts";
import { PROGRAMS } from "./product.ts";
import { startReceivers } from "./receivers.ts";
import { report } from "./report.ts";
import { AGAINST_ROUNDS } from "./settings.ts";

const USAGE = `npm run bench:webhooks -- [--json FILE] [--dist FOLDER] [--against FOLDER] [--peer URL]

  Measures rate and latency from outbox rows to recorded 2xx, and the effect on the others of receivers that hang or are far
  behind, of a deleted backlog and of a dump. Under twelve minutes.

  --json FILE        writes all results
  --dist FOLDER      measures the programs of another checkout, which must be built
  --against FOLDER   measures bursts alone, of this checkout (or of --dist) and of FOLDER in turn: ${AGAINST_ROUNDS} rounds, about five minutes
  --peer URL         measures a running Outpost instead, such as http://127.0.0.1:3333/api/v1, whose TOPICS contain
                     submission.approved. PEER_API_KEY in the environment is its API key
`;

const OPTIONS = { dist: { type: "string" }, against: { type: "string" }, peer: { type: "string" } } as const;

type Result = WebhookResult | Comparison | PeerResult;

await benchProgram<Result>({ usage: USAGE, options: OPTIONS, run, report: reportAny });

function reportAny(result: Result): string {
  if ("folders" in result) return reportComparison(result);
  return "peer_deliveries_per_second" in result ? reportPeer(result) : report(result);
}

async function run(owned: Owned, log: (text: string) => void, { dist, against, peer }: OptionValues): Promise<Result> {
  if (typeof peer === "string") return runPeer(owned, log, peer);
  const build = findBuild("this", dist, PROGRAMS);
  const other = against === undefined ? undefined : findBuild("other", against, PROGRAMS);
  log("Starting Postgres and Kafka");
  const environment = await startEnvironment(owned);
  if (other !== undefined) return compareBuilds(environment, { this: build, other }, log);
  const { receivers, start } = environment;
  return measure({ product: await environment.startProduct(build), receivers, start, log });
}

async function runPeer(owned: Owned, log: (text: string) => void, url: string): Promise<PeerResult> {
  const { PEER_API_KEY: apiKey = "" } = process.env;
  if (apiKey === "") throw new Error("PEER_API_KEY must be in the environment: the peer's API key");
  const receivers = await startReceivers((await openEnvironment(owned)).start);
  const outpost = await owned.own("peer", Promise.resolve(new Outpost({ url, apiKey })));
  await outpost.register(receivers.ports);
  return measurePeer(outpost, receivers, log);
}
