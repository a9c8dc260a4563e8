import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { CommandFailure, errorCode, printable } from "@brand-records/command-line";

/** A lock of another host, whose processes cannot be seen, is left if it is this old: a running export touches its own. */
const STALE_MS = 120_000;
const TOUCH_MS = 20_000;
const OWNER_NAME = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface ExportLock {
  /** @throws CommandFailure `lock_lost` if a person deleted the lock, or another host took it over while this one was suspended */
  requireHeld(): Promise<void>;
  release(): Promise<void>;
}

/**
 * Keeps other exports from a file, by the folder `FILE.lock` beside it, with the owner in it. A lock that a killed process left is taken
 * over at once on its host, elsewhere after two minutes.
 *
 * The owner's file has a name that no other lock has. So a process that found a lock stale deletes the owner it looked at, and never that
 * of a process which was faster. And renaming a folder to one with a file in it fails: of all that take over, one succeeds.
 *
 * @throws CommandFailure `export_under_way`
 */
export async function lockExport(out: string): Promise<ExportLock> {
  const path = `${out}.lock`;
  const owner = randomUUID();
  await deleteStale(path);
  if (!(await create(path, owner))) {
    const hint = `If none is running, delete ${printable(path)} and run the command again.`;
    throw new CommandFailure("export_under_way", `Another export writes into ${printable(out)}.`, { hint });
  }
  const ownerPath = join(path, owner);
  // What makes it fail, the next page meets too.
  const timer = setInterval(() => void touch(ownerPath).catch(() => false), TOUCH_MS);
  timer.unref();
  return {
    async requireHeld() {
      if (await touch(ownerPath)) return;
      throw new CommandFailure("lock_lost", `${printable(path)} was deleted: another export may write into ${printable(out)}.`);
    },
    async release() {
      clearInterval(timer);
      await rm(ownerPath, { force: true });
      await deleteEmpty(path);
    },
  };
}

/** @returns false if there is one */
async function create(path: string, owner: string): Promise<boolean> {
  const own = `${path}-${owner}`;
  await mkdir(own);
  try {
    await writeFile(join(own, owner), `${process.pid} ${hostname()}\n`);
    await rename(own, path);
    return true;
  } catch (error) {
    await rm(own, { recursive: true, force: true });
    // The last is Windows'.
    if (["ENOTEMPTY", "EEXIST", "EPERM"].includes(errorCode(error) ?? "")) return false;
    throw error;
  }
}

async function deleteStale(path: string): Promise<void> {
  try {
    for (const owner of await readdir(path)) {
      if (OWNER_NAME.test(owner) && !(await isHeld(join(path, owner)))) await rm(join(path, owner), { force: true });
    }
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") {
      throw new CommandFailure("foreign_lock", `${printable(path)} is no lock of an export.`, { hint: "Choose another --out." });
    }
    if (errorCode(error) !== "ENOENT") throw error;
  }
  await deleteEmpty(path);
}

async function isHeld(ownerPath: string): Promise<boolean> {
  const [, pid, host] = /^(\d+) (.*)\n$/.exec(await readFile(ownerPath, "utf8")) ?? [];
  if (host === hostname() && pid !== undefined) return Number(pid) !== process.pid && isRunning(Number(pid));
  return Date.now() - (await stat(ownerPath)).mtimeMs < STALE_MS;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is another user's.
    return errorCode(error) === "EPERM";
  }
}

/** Deletes a lock without owner. One with an owner is another process's by now. */
async function deleteEmpty(path: string): Promise<void> {
  await rmdir(path).catch((error: unknown) => {
    if (!["ENOENT", "ENOTEMPTY", "EEXIST"].includes(errorCode(error) ?? "")) throw error;
  });
}

/** @returns false if it does not exist */
async function touch(path: string): Promise<boolean> {
  const now = new Date();
  try {
    await utimes(path, now, now);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}
