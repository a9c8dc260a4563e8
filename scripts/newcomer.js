#!/usr/bin/env node
// Does what a newcomer does, by the README's own commands: clones into an empty folder, installs, starts before anything else
// is built, sends one request, watches one event arrive, presses Ctrl-C, starts again with the same keys, forgets everything.
// Needs what the README asks for, and git.
//
//   scripts/newcomer.js [FOLDER]   FOLDER must be empty or not exist; the clone stays in it. Without FOLDER the clone is in a
//                                  temporary folder, which is removed at the end (KEEP=1: it stays).
//   PORT                           where the clone listens. Default: 8080, or any free port if 8080 is taken.
//
// It clones what is committed. stdout: the clone's folder. stderr: each step with its duration, and the output of the step that
// fails. Exit code 0 if everything works, else 1.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { Newcomer } from "./newcomer/newcomer.js";
import { Shell } from "./newcomer/shell.js";

const REPOSITORY = resolve(import.meta.dirname, "..");

const [, , given] = process.argv;
const folder = given === undefined ? temporaryFolder() : emptyFolder(resolve(given));
const isKept = given !== undefined || Boolean(process.env.KEEP);
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

/** Postgres does not run as root: as another user it must be able to enter. */
function temporaryFolder() {
  const made = realpathSync(mkdtempSync(join(tmpdir(), "newcomer-")));
  chmodSync(made, 0o755);
  return made;
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
