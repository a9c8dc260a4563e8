import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const CACHE = join(process.cwd(), "node_modules/.cache/clients");

/**
 * Installs something into a folder of the cache, unless an earlier run did. Returns the folder.
 *
 * @param name includes the version, so that versions do not overwrite each other
 * @param install fills the folder; if it fails, the next run starts over
 */
export async function installedOnce(name: string, install: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = join(CACHE, name);
  const complete = join(folder, ".complete");
  if (existsSync(complete)) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await install(folder);
  await writeFile(complete, "");
  return folder;
}
