import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findCommands, findPages } from "./find-commands.ts";
import { NOT_RUN } from "./not-run.ts";

/** One promise: commands.full.test.ts runs every command of the documentation, or not-run.ts has the reason why not. */

const run = promisify(execFile);
const commands = findPages().flatMap(findCommands);
const names = new Set(commands.map(({ command }) => command));

it("finds the commands of shell blocks, of other blocks and of the text", () => {
  expect([...names]).toEqual(
    expect.arrayContaining([
      "npm ci && npm start",
      "npm run bench:records -- --json FILE",
      "npx brandctl listen --create --brand brd_…",
      "brandctl deliveries show dlv_… --brand brd_…",
      "npm run reset",
    ]),
  );
});

it("every reason is that of a command that is still there", () => {
  expect(Object.keys(NOT_RUN).filter((command) => !names.has(command))).toEqual([]);
});

it("every npm script named exists", async () => {
  const { scripts } = JSON.parse((await run("npm", ["pkg", "get", "scripts", "name"])).stdout) as { scripts: Record<string, string> };
  const named = [...names].flatMap((command) => [...command.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = ""]) => name));
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

it("every brandctl command named exists", async () => {
  const named = [...names].flatMap((command) => /^(?:npx )?brandctl ([a-z][a-z-]*(?: [a-z][a-z-]*)?)(?= |$)/.exec(command)?.[1] ?? []);
  expect(named).toEqual(expect.arrayContaining(["receivers rotate", "events replay-dead", "listen", "doctor"]));
  // The completion of a shell knows them all.
  const { stdout: completion } = await run(process.execPath, ["packages/brandctl/bin/brandctl.js", "completion", "fish"]);
  expect(named.filter((name) => !completion.includes(`' ${name}'`))).toEqual([]);
});
