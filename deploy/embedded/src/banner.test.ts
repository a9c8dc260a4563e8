import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { banner } from "./banner.ts";
import { parseConfig } from "./config.ts";
import { localFiles, ROOT } from "./local-files.ts";
import type { RunFile } from "./run-file.ts";

const RUN: RunFile = {
  base_url: "http://127.0.0.1:8080",
  launcher: { pid: process.pid, startedAt: undefined },
  admin: {},
  rpc: {},
  cells: {},
  cell_databases: {},
  platform_database_url: "postgres://x",
  console: { url: "http://localhost:8080", sign_in_url: null },
  brands: [],
};
const render = (directory?: string): string => stripVTControlCharacters(banner(RUN, parseConfig({}), localFiles(directory), undefined));

it.each([undefined, join(ROOT, ".local"), join(ROOT, "deploy/../.local/")])("shows .local by its short name for %s", (directory) => {
  expect(render(directory).split("\n").slice(-3)).toEqual([
    "",
    "  Everything above is in .local/run.json, logs are in .local/logs. Ctrl-C stops; npm run reset deletes everything.",
    "",
  ]);
});

it.each([
  ["/var/tmp/trial", "/var/tmp/trial"],
  ["/var/tmp/Ana's trial", String.raw`'/var/tmp/Ana'\''s trial'`],
])("shows another LOCAL_DIR, %s, in full, with the variable that other terminals need", (directory, quoted) => {
  expect(render(directory).split("\n").slice(-3)).toEqual([
    `  Everything above is in ${directory}/run.json, logs are in ${directory}/logs. Ctrl-C stops; npm run reset deletes everything.`,
    `  In other terminals brandctl and npm run reset need it too: export LOCAL_DIR=${quoted}`,
    "",
  ]);
});

it("shows a relative LOCAL_DIR as an absolute path, because brandctl may run elsewhere", () => {
  expect(render("trial")).toContain(`export LOCAL_DIR=${join(process.cwd(), "trial")}\n`);
});
