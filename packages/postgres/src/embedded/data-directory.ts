import { createHash } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

const OTHERS_MAY_ENTER = 0o001;

export const runsAsRoot = process.getuid?.() === 0;

/**
 * Returns the actual directory for the data of `dataDir`, always the same. For root, data below a folder that others may not
 * enter (a home of mode 0700) lie elsewhere, because Postgres refuses to run as root.
 */
export function embeddedDataDir(dataDir: string): string {
  const requested = realPath(dataDir);
  if (!runsAsRoot || othersReach(dirname(requested))) return requested;
  const hash = createHash("sha256").update(requested).digest("hex").slice(0, 12);
  return `/var/lib/brand-records-${hash}`;
}

/** Whether other users may enter `path` and every folder above it. Missing folders do not count. */
export function othersReach(path: string): boolean {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? OTHERS_MAY_ENTER;
  if ((mode & OTHERS_MAY_ENTER) === 0) return false;
  return path === dirname(path) || othersReach(dirname(path));
}

/** Creates the parent folders. Others may enter them whatever the umask, so that `embeddedDataDir` returns the same path later. */
export async function makeParentOf(dataDir: string): Promise<void> {
  const parent = dirname(dataDir);
  const first = await mkdir(parent, { recursive: true });
  if (first === undefined || !runsAsRoot) return;
  for (let made = parent; ; made = dirname(made)) {
    await chmod(made, 0o755);
    if (made === first) return;
  }
}

/** Resolves symbolic links, even if the last parts of the path do not exist yet. */
function realPath(path: string): string {
  const absolute = resolve(path);
  return existsSync(absolute) ? realpathSync(absolute) : join(realPath(dirname(absolute)), basename(absolute));
}
