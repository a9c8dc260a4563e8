#!/usr/bin/env node
// Follows the README as a newcomer does, with its own commands: clones into an empty folder, installs, starts before anything
// else is built, opens the console, sends one request, watches one event arrive, presses Ctrl-C, starts again with the same keys, resets.
// Needs git and what the README lists.
//
//   scripts/newcomer.js [FOLDER]   FOLDER must be empty or not exist; the clone stays in it. Without FOLDER the clone is in a
//                                  temporary folder, which is deleted at the end unless KEEP=1.
//   PORT                           port of the clone. Default: 8080, or any free port if 8080 is taken.
//
// It clones the last commit. stdout: the clone's folder. stderr: each step with its duration, and the output of a step that
// fails. Exit code: 0 if everything works, else 1.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { Shell } from "../test/docs/shell.js";
import { Newcomer } from "./newcomer/newcomer.js";

const REPOSITORY = resolve(import.meta.dirname, "..");

const [, , requested] = process.argv;
const folder = requested === undefined ? temporaryFolder() : emptyFolder(resolve(requested));
const isKept = requested !== undefined || Boolean(process.env.KEEP);
const shell = new Shell(folder, process.env);

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => void cleanUp().finally(() => process.exit(130)));
try {
  await new Newcomer(REPOSITORY, folder, shell, process.env.PORT).visit();
  process.stdout.write(`${folder}\n`);
} catch (error) {
  process.stderr.write(`\n${error.message}\n`);
  process.exitCode = 1;
} finally {
  await cleanUp();
}

/** Readable by all: Postgres does not run as root, and must be able to enter as another user. */
function temporaryFolder() {
  const created = realpathSync(mkdtempSync(join(tmpdir(), "newcomer-")));
  chmodSync(created, 0o755);
  return created;
}

function emptyFolder(path) {
  mkdirSync(path, { recursive: true });
  if (readdirSync(path).length === 0) return realpathSync(path);
  process.stderr.write(`${path} is not empty.\n`);
  process.exit(1);
}

async function cleanUp() {
  await shell.killAll();
  if (!isKept) rmSync(folder, { recursive: true, force: true });
}
