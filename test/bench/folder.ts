import { randomBytes } from "node:crypto";
import { chmod, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { deleteEmbeddedData, embeddedDataDir, startEmbeddedPostgres, type EmbeddedPostgres } from "@brand-records/postgres/embedded";
import { makeOwnedFolder, removeOrphanedFolders } from "@brand-records/testkit";

const PREFIX = "brand-records-bench-";

/** Removes the folders of benchmarks that were killed before they could remove them. */
export function removeLeftovers(): Promise<void> {
  return removeOrphanedFolders(PREFIX, removeFolder);
}

/** Makes the folder for the data and logs of this run. */
export async function makeFolder(): Promise<string> {
  const folder = await makeOwnedFolder(PREFIX);
  // Under root, Postgres runs as another user, who must be able to enter it.
  await chmod(folder, 0o755);
  return folder;
}

export async function removeFolder(folder: string): Promise<void> {
  await deleteEmbeddedData(dataDirIn(folder));
  await rm(folder, { recursive: true, force: true });
}

export const dataDirIn = (folder: string): string => join(folder, "postgres");

/**
 * Starts Postgres with its settings in `npm start`: the defaults, every commit on disk.
 *
 * @param settings that measuring needs in addition
 */
export function startDatabase(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir: dataDirIn(folder), password: randomBytes(12).toString("hex"), settings });
}

export async function postmasterOf(folder: string): Promise<number> {
  return Number.parseInt(await readFile(join(embeddedDataDir(dataDirIn(folder)), "postmaster.pid"), "utf8"), 10);
}
