import { readFileSync, rmSync } from "node:fs";
import { LaunchError } from "./launch-error.ts";
import { readJson, writeJson, type LocalFiles } from "./local-files.ts";

interface Lock {
  readonly pid: number;
  readonly processes: readonly number[];
}

const KILLED_WITHIN_MS = 5_000;

/**
 * One launcher per folder. If the one before was killed, what it left running is ended first, so that its ports and its
 * database are free again.
 *
 * @throws LaunchError if one is running
 */
export async function takeLauncherLock(files: LocalFiles): Promise<{ note(processes: readonly number[]): void; release(): void }> {
  const left = readJson(files.lock) as Lock | undefined;
  if (left !== undefined) {
    if (left.pid !== process.pid && isOurs(left.pid)) {
      throw new LaunchError(
        `Already running in this folder (process ${left.pid}). Stop it with Ctrl-C in its terminal, or: kill ${left.pid}`,
      );
    }
    await endAll(left.processes);
  }
  const note = (processes: readonly number[]): void => writeJson(files.lock, { pid: process.pid, processes } satisfies Lock);
  note([]);
  return { note, release: () => rmSync(files.lock, { force: true }) };
}

async function endAll(pids: readonly number[]): Promise<void> {
  const deadline = Date.now() + KILLED_WITHIN_MS;
  for (const pid of pids) {
    while (isOurs(pid) && Date.now() < deadline) {
      process.kill(pid, "SIGKILL");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** A process id may have been given to somebody else since: only what runs a program of this repository is ours. */
function isOurs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return /(deploy\/embedded|gateway|services\/[a-z]+)\/dist\/main\.js/.test(command);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    // Alive, but this system has no /proc: trust the number.
    return syscall === "open" && code === "ENOENT" && process.platform !== "linux";
  }
}
