import { open, readFile, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { errorCode, printable } from "@brand-records/terminal-output";
import { CommandFailure } from "../failure.ts";

/** A lock of another host, or of a process whose number may be reused, is left if it is this old: a running export touches its own. */
const STALE_MS = 120_000;
const TOUCH_MS = 20_000;

export interface ExportLock {
  release(): Promise<void>;
}

/**
 * Keeps other exports from a file, by `FILE.lock` beside it. A lock that a killed process left is taken over at once on its host, elsewhere
 * after two minutes.
 *
 * @throws CommandFailure `export_under_way`
 */
export async function lockExport(out: string): Promise<ExportLock> {
  const path = `${out}.lock`;
  const owner = `${process.pid} ${hostname()}\n`;
  if (!(await create(path, owner))) {
    if (await isHeld(path)) {
      const hint = `If none is running, delete ${printable(path)} and run the command again.`;
      throw new CommandFailure("export_under_way", `Another export writes into ${printable(out)}.`, { hint });
    }
    await rm(path, { force: true });
    if (!(await create(path, owner))) throw new CommandFailure("export_under_way", `Another export writes into ${printable(out)}.`);
  }
  const timer = setInterval(() => void touch(path), TOUCH_MS);
  timer.unref();
  return {
    async release() {
      clearInterval(timer);
      await rm(path, { force: true });
    },
  };
}

/** @returns false if it exists */
async function create(path: string, owner: string): Promise<boolean> {
  try {
    const file = await open(path, "wx");
    await file.writeFile(owner);
    await file.close();
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

async function isHeld(path: string): Promise<boolean> {
  try {
    const [, pid, host] = /^(\d+) (.*)\n$/.exec(await readFile(path, "utf8")) ?? [];
    if (host === hostname() && pid !== undefined) return Number(pid) !== process.pid && isRunning(Number(pid));
    return Date.now() - (await stat(path)).mtimeMs < STALE_MS;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is another user's.
    return errorCode(error) === "EPERM";
  }
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  // Deleted by a person: the export goes on.
  await utimes(path, now, now).catch((error: unknown) => {
    if (errorCode(error) !== "ENOENT") throw error;
  });
}
