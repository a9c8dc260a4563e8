import { createHash } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

const OTHERS_MAY_ENTER = 0o001;

export const runsAsRoot = process.getuid?.() === 0;

/**
 * Where the data asked for at `dataDir` really lies; the same answer every time. Below a folder that others may not
 * enter (a home of mode 0700) root must keep it elsewhere, because Postgres refuses to run as root.
 */
export function embeddedDataDir(dataDir: string): string {
  const asked = realPath(dataDir);
  if (!runsAsRoot || othersReach(dirname(asked))) return asked;
  const hash = createHash("sha256").update(asked).digest("hex").slice(0, 12);
  return `/var/lib/brand-records-${hash}`;
}

/** Whether other users may enter `path` and every folder above it. What is not there yet does not count. */
export function othersReach(path: string): boolean {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? OTHERS_MAY_ENTER;
  if ((mode & OTHERS_MAY_ENTER) === 0) return false;
  return path === dirname(path) || othersReach(dirname(path));
}

/** The folder and those above it, entered by others whatever the umask, so that `embeddedDataDir` keeps its answer. */
export async function makeParentOf(dataDir: string): Promise<void> {
  const parent = dirname(dataDir);
  const first = await mkdir(parent, { recursive: true });
  if (first === undefined || !runsAsRoot) return;
  for (let made = parent; ; made = dirname(made)) {
    await chmod(made, 0o755);
    if (made === first) return;
  }
}

/** Absolute and without symbolic links, also if the last parts do not exist yet. */
function realPath(path: string): string {
  const absolute = resolve(path);
  return existsSync(absolute) ? realpathSync(absolute) : join(realPath(dirname(absolute)), basename(absolute));
}
