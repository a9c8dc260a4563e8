import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "brand-records");

/**
 * Makes a folder of the user's cache, unless an earlier run did. Returns its path. Runs at the same time do not disturb each other:
 * each fills a draft, and the first to finish wins.
 *
 * @param name includes everything that the content depends on
 * @param fill fills the draft; if it fails, the next run starts over
 */
export async function cachedFolder(name: string, fill: (draft: string) => Promise<unknown>): Promise<string> {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}.draft-`);
  try {
    await fill(draft);
    await rename(draft, folder).catch((error: unknown) => {
      // Another run was faster.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}
