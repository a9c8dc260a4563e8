import { mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { runBenchmark } from "./benchmark.ts";
import { Owned } from "../owned.ts";
import { SIZE, SIZE_WARNING } from "../size.ts";
import { report } from "./report.ts";
import { ROUNDS } from "./settings.ts";

const USAGE = `npm run bench:records -- [--json FILE] [--rounds N] [--more] [--profile DIRECTORY]

  --json FILE          writes everything that was measured
  --rounds N           instead of ${ROUNDS}; fewer are for trying out
  --more               also what no target is set for: the tool in the older protocol, and in the SDK's version 1
  --profile DIRECTORY  takes a CPU profile of every process; the figures are then not to be compared
`;

const { values: options } = parseArgs({
  options: {
    json: { type: "string" },
    rounds: { type: "string" },
    more: { type: "boolean", default: false },
    profile: { type: "string" },
    help: { type: "boolean" },
  },
});
if (options.help) {
  process.stdout.write(USAGE);
  process.exit();
}
if (process.platform !== "linux") {
  process.stderr.write("This benchmark reads CPU time and memory from /proc and needs Linux.\n");
  process.exit(1);
}

if (SIZE_WARNING !== undefined) say(SIZE_WARNING);

const owned = new Owned();
let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    if (interrupted) return;
    interrupted = true;
    say("Stopping");
    void owned.stop().then(() => process.exit(130));
  });
}

try {
  const profileDir = options.profile === undefined ? undefined : resolve(options.profile);
  if (profileDir !== undefined) mkdirSync(profileDir, { recursive: true });
  const result = await runBenchmark(owned, { rounds: Number(options.rounds ?? ROUNDS), more: options.more, profileDir, say });
  await owned.stop();
  process.stdout.write(`\n${report(result)}\n${SIZE_WARNING === undefined ? "" : `\n${SIZE_WARNING}\n`}`);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify({ size: SIZE, ...result }, null, 2)}\n`);
} catch (error) {
  // Interrupted: what breaks then is what we are stopping.
  if (!interrupted) {
    process.stderr.write(`\nThe benchmark failed: ${error instanceof Error ? error.message : String(error)}\n`);
    await owned.stop();
    process.exitCode = 1;
  }
}

/** Progress goes to stderr, the result alone to stdout. */
function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
