import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { processExists } from "@brand-records/lifecycle";
import type { Binaries } from "./binaries.ts";
import { makeParentOf, SERVER_ENVIRONMENT, type ServerUser, serverUserFor } from "./data-directory.ts";
import { EmbeddedPostgresError } from "./errors.ts";

const run = promisify(execFile);

interface InitialiseOptions {
  readonly dataDir: string;
  readonly user: string;
  readonly password: string;
  readonly binaries: Binaries;
  /** False skips fsync, where losing the data to a power cut is acceptable. */
  readonly durable: boolean;
  /** When aborted, initdb is killed. */
  readonly killed: AbortSignal | undefined;
}

/**
 * Creates the data directory if it does not exist. initdb works in a folder beside it that is renamed at the end, so an
 * interrupted initdb leaves nothing that a later start uses.
 *
 * @throws EmbeddedPostgresError if the folder holds something else, or data of another major version
 */
export async function initialise(options: InitialiseOptions): Promise<void> {
  const { dataDir, binaries } = options;
  if (await holdsData(dataDir, binaries.majorVersion)) return;
  await makeParentOf(dataDir);
  await removeInterrupted(dataDir);
  const staging = `${dataDir}.initdb-${process.pid}-${randomBytes(4).toString("hex")}`;
  await mkdir(staging, { mode: 0o700 });
  try {
    await runInitdb(join(staging, "data"), staging, options);
    await rename(join(staging, "data"), dataDir);
  } finally {
    // A killed initdb's own child may add files for another moment.
    await rm(staging, { recursive: true, force: true, maxRetries: 20 });
  }
}

async function runInitdb(
  target: string,
  staging: string,
  { dataDir, user, password, binaries, durable, killed }: InitialiseOptions,
): Promise<void> {
  const passwordFile = join(staging, "password");
  await writeFile(passwordFile, password, { mode: 0o600 });
  const as = await serverUserFor(dataDir);
  for (const path of [staging, passwordFile]) await give(path, as);
  const args = ["-D", target, "-U", user, "--pwfile", passwordFile, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"];
  try {
    const options = { ...as, cwd: "/", env: SERVER_ENVIRONMENT, ...(killed !== undefined && { signal: killed }) };
    await run(binaries.initdb, durable ? args : [...args, "--no-sync"], options);
  } catch (error) {
    const output = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    throw new EmbeddedPostgresError(`initdb for ${dataDir} failed: ${output}`, { cause: error });
  }
}

async function give(path: string, { uid, gid }: ServerUser): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}

async function holdsData(dataDir: string, majorVersion: string): Promise<boolean> {
  const entries = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new EmbeddedPostgresError(
      `Cannot read ${dataDir} (${error.code}): another user created it. Start as that user, or delete it with "npm run reset".`,
      { cause: error },
    );
  });
  if (entries.length === 0) return false;
  const found = await readFile(join(dataDir, "PG_VERSION"), "utf8").catch(() => undefined);
  if (found === undefined) {
    throw new EmbeddedPostgresError(`${dataDir} is not a Postgres data directory. Move it away, or delete it with "npm run reset".`);
  }
  if (found.trim() !== majorVersion) {
    throw new EmbeddedPostgresError(
      `${dataDir} holds data of Postgres ${found.trim()}, this is Postgres ${majorVersion}. Dump it with the old version if you need it, ` +
        `then delete it with "npm run reset".`,
    );
  }
  return true;
}

/** Removes the folders of interrupted initdb runs. */
async function removeInterrupted(dataDir: string): Promise<void> {
  const prefix = `${basename(dataDir)}.initdb-`;
  for (const entry of await readdir(dirname(dataDir))) {
    if (!entry.startsWith(prefix) || processExists(Number.parseInt(entry.slice(prefix.length), 10))) continue;
    // The initdb of that start may run for another moment and add files meanwhile.
    await rm(join(dirname(dataDir), entry), { recursive: true, force: true, maxRetries: 20 });
  }
}
