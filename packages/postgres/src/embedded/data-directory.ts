import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { chmod, mkdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

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

const run = promisify(execFile);

/** Options for child_process.spawn; empty for the current user. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** Returns the user that Postgres runs as: the current one; for root, the owner of the data, or `nobody` while there is no data. */
export async function serverUserFor(dataDir: string): Promise<ServerUser> {
  if (!runsAsRoot) return {};
  const owner = await stat(dataDir).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const [uid, gid] = await Promise.all(["-u", "-g"].map(async (which) => Number((await run("id", [which, "nobody"])).stdout)));
  return { uid: uid as number, gid: gid as number };
}

/** Replaces our environment: Postgres would read PGDATA, PGPORT and others from it. */
export const SERVER_ENVIRONMENT: NodeJS.ProcessEnv = { LC_ALL: "C", TZ: "UTC" };
