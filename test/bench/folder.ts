import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deleteEmbeddedData, embeddedDataDir, startEmbeddedPostgres, type EmbeddedPostgres } from "@brand-records/postgres/embedded";

const PREFIX = "brand-records-bench-";

/** Of runs that were killed before they could clean up. */
export async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN;
    if (owner > 0 && !isAlive(owner)) await removeFolder(join(tmpdir(), name));
  }
}

/** Holds the data and the logs of this run. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // Under root Postgres runs as somebody else, who must enter it.
  await chmod(folder, 0o755);
  return folder;
}

export async function removeFolder(folder: string): Promise<void> {
  await deleteEmbeddedData(dataDirIn(folder));
  await rm(folder, { recursive: true, force: true });
}

export const dataDirIn = (folder: string): string => join(folder, "postgres");

/**
 * With the settings it has in `npm start`: none of our own, every commit on disk.
 *
 * @param settings what measuring needs beside them
 */
export function startDatabase(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir: dataDirIn(folder), password: randomBytes(12).toString("hex"), settings });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

export async function postmasterOf(folder: string): Promise<number> {
  return Number.parseInt(await readFile(join(embeddedDataDir(dataDirIn(folder)), "postmaster.pid"), "utf8"), 10);
}
