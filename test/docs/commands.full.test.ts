import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findCommands } from "./find-commands.js";
import { NOT_RUN } from "./not-run.ts";
import { findManuals } from "./pages.ts";

/** One promise: commands.release.test.ts runs every documented command, or not-run.ts states why not. */

const run = promisify(execFile);
const commands = new Set(findManuals().flatMap(findCommands));

it("finds the commands of shell blocks, of other blocks and of the text", () => {
  expect([...commands]).toEqual(
    expect.arrayContaining([
      "npm ci && npm start",
      "npm run bench:records -- --json FILE",
      "npx brandctl listen --brand brd_…",
      "brandctl deliveries show dlv_… --brand brd_…",
      "npm run reset",
    ]),
  );
});

it("not-run.ts names no command that the pages no longer have", () => {
  expect(Object.keys(NOT_RUN).filter((command) => !commands.has(command))).toEqual([]);
});

/** What every machine of the tests has, and what begins a line of bash. */
const STARTS = /^(?:npm|npx|curl|jq|python3|sqlite3|ps|echo|export|brandctl|brand-records|\w+=\$\(curl|\(umask|\(\n)(?= |$|\w)/;

it("every command that is run begins with a program that machines have; others need a line in not-run.ts", () => {
  expect([...commands].filter((command) => !(command in NOT_RUN) && !STARTS.test(command))).toEqual([]);
});

it("every npm script that a page names exists", async () => {
  const { scripts } = JSON.parse((await run("npm", ["pkg", "get", "scripts", "name"])).stdout) as { scripts: Record<string, string> };
  const named = [...commands].flatMap((command) => [...command.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = ""]) => name));
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

it("every brandctl command that a page names exists", async () => {
  const named = [...commands].flatMap((command) => /^(?:npx )?brandctl ([a-z][a-z-]*(?: [a-z][a-z-]*)?)(?= |$)/.exec(command)?.[1] ?? []);
  expect(named).toEqual(expect.arrayContaining(["receivers rotate", "events replay-dead", "listen", "doctor"]));
  // The help of the program, and of a command with commands below, lists those one below.
  const parents = new Set(named.map((name) => name.split(" ").slice(0, -1).join(" ")));
  const helps = await Promise.all(
    [...parents].map(async (parent) => {
      const { stdout } = await run(process.execPath, ["brandctl/bin/brandctl.js", ...parent.split(" ").filter(Boolean), "--help"]);
      return [...stdout.matchAll(/^  ([a-z][a-z-]*)\b/gm)].map(([, name]) => `${parent} ${name}`.trim());
    }),
  );
  const existing = new Set(helps.flat());
  expect(named.filter((name) => !existing.has(name))).toEqual([]);
});
