import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processExists } from "@brand-records/lifecycle";

/** Makes a temporary folder whose name holds this process' id, for `removeOrphanedFolders`. */
export function makeOwnedFolder(prefix: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
}

/** Removes the folders of processes that were killed before they could remove them. Other users' folders stay. */
export async function removeOrphanedFolders(prefix: string, remove = removeFolder): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (!(owner > 0) || processExists(owner)) continue;
    const folder = join(tmpdir(), name);
    if ((await userOf(folder)) === process.getuid?.()) await remove(folder);
  }
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/** Returns undefined if it is gone: several processes clean up at the same time. */
async function userOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).uid;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
