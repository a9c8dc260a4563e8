import { chmod, cp, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryFiles } from "./pages.ts";
import type { Shell } from "./shell.js";

/** Copies the repository's files to a new folder, where nothing is installed or built. */
export async function makeCleanCopy(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "clean-copy-")));
  // Postgres does not run as root: as another user it must be able to enter.
  await chmod(folder, 0o755);
  for (const file of repositoryFiles()) await cp(file, join(folder, file));
  return folder;
}

/** Deletes everything compiled in the shell's folder. */
export async function deleteBuilds(folder: string, shell: Shell): Promise<void> {
  const found = await shell.run("find . -name node_modules -prune -o -name dist -type d -print", 60);
  for (const path of found.split("\n").filter(Boolean)) await rm(join(folder, path), { recursive: true });
}
