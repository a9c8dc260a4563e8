import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgresServer } from "@brand-records/testkit";
import { PROCESS_TYPES } from "./fleet.ts";
import { isClean, isFailed, reportRun, sumOf } from "./report.ts";
import { rollingRun, type RollingResult } from "./rolling-run.ts";

const USAGE = `npm run test:rolling -- [--runs N] [--rate N] [--grace-ms N] [--compete] [--from FOLDER] [--first TYPE]

  Replaces every process of a system with two of each type, one type after the other and then all at once, under constant
  traffic that retries nothing. Counts requests that fail and events that are lost; exits with 1 if there is any.

  --runs N        default: 1; about a minute each
  --rate N        requests a second; default: 100
  --grace-ms N    STOP_GRACE_MS of every process; default: 5000
  --compete       processes that start take CPU from those that serve, as on a full node without requests: some requests fail then
  --from FOLDER   begins with the processes of another release, built in this folder
  --first TYPE    replaces the processes of this type before the others; default: accounts
  --logs FOLDER   where what the processes of each run logged is written
`;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1" },
    rate: { type: "string", default: "100" },
    "grace-ms": { type: "string", default: "5000" },
    compete: { type: "boolean", default: false },
    from: { type: "string" },
    first: { type: "string" },
    logs: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(USAGE);
else await run(wholeNumber("runs"), wholeNumber("rate"), wholeNumber("grace-ms"));

/** @throws Error: a run without requests would find no failure */
function wholeNumber(name: "runs" | "rate" | "grace-ms"): number {
  const text = values[name];
  if (!/^\d+$/.test(text) || (Number(text) === 0 && name !== "grace-ms")) throw new Error(`--${name}: ${text} is no whole number above 0`);
  return Number(text);
}

async function run(runs: number, rate: number, graceMs: number): Promise<void> {
  const results: RollingResult[] = [];
  for (let n = 1; n <= runs; n += 1) {
    const result = await oneRun(n, rate, graceMs);
    results.push(result);
    if (values.logs !== undefined) await writeLogs(join(values.logs, String(n)), result.logs);
    process.stdout.write(`${reportRun(`Run ${n} of ${runs}`, result)}\n\n`);
  }
  const sum = (count: (result: RollingResult) => number): number => results.reduce((total, result) => total + count(result), 0);
  const failed = sum(({ outcomes }) => outcomes.filter(isFailed).length);
  const wrongRows = sum(({ outcomes }) => sumOf(outcomes, (outcome) => outcome.wrongRows));
  const [requests, lost] = [sum(({ outcomes }) => outcomes.length), sum(({ events }) => events.lost)];
  process.stdout.write(
    `${results.length} runs: ${failed} of ${requests} requests failed, ${lost} of ${sum(({ events }) => events.changes)} events lost, ${wrongRows} rows that filters should have kept out\n`,
  );
  process.exitCode = results.every(isClean) ? 0 : 1;
}

async function writeLogs(folder: string, logs: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of logs) if (text !== "") await writeFile(join(folder, `${name}.log`), text);
}

async function oneRun(n: number, rate: number, graceMs: number): Promise<RollingResult> {
  const postgres = await startPostgresServer();
  try {
    return await rollingRun({
      databaseUrl: postgres.url,
      perSecond: rate,
      settings: { STOP_GRACE_MS: String(graceMs) },
      startsCompete: values.compete,
      present: process.cwd(),
      ...(values.from !== undefined && { from: values.from }),
      first: PROCESS_TYPES.find((type) => type === values.first),
      log: (text) => void process.stderr.write(`Run ${n}: ${text}\n`),
    });
  } finally {
    await postgres.stop();
  }
}
