import { rmSync } from "node:fs";
import { identify, isAlive, killProcess, type ProcessIdentity } from "@brand-records/lifecycle";
import { LaunchError } from "./requirements.ts";
import { readJson, writeJson, type LocalFiles } from "./local-files.ts";

interface LauncherLock {
  /** This process. */
  readonly launcher: ProcessIdentity;
  /** Records the processes to end if this launcher is killed. A full disk ends nothing that runs: it is told. */
  note(processes: readonly { readonly pid: number | undefined }[], tell: (text: string) => void): void;
  release(): void;
}

interface LockFile {
  readonly launcher: ProcessIdentity;
  readonly processes: readonly ProcessIdentity[];
}

const KILLED_WITHIN_MS = 5_000;

/**
 * Allows one launcher per folder. If the previous one was killed, the processes it left are ended first, which frees its
 * ports and its database.
 *
 * @throws LaunchError if another launcher runs
 */
export async function takeLauncherLock(files: LocalFiles): Promise<LauncherLock> {
  const left = readJson(files.lock) as LockFile | undefined;
  if (left !== undefined) {
    const { pid } = left.launcher;
    if (isAlive(left.launcher)) {
      throw new LaunchError(`Already running in this folder (process ${pid}). Stop it with Ctrl-C in its terminal, or: kill ${pid}`);
    }
    await endAll(left.processes);
  }
  const launcher = identify(process.pid) ?? { pid: process.pid, startedAt: undefined };
  const write = (processes: readonly ProcessIdentity[]): void => writeJson(files.lock, { launcher, processes } satisfies LockFile);
  write([]);
  return {
    launcher,
    note(processes, tell) {
      try {
        write(processes.flatMap(({ pid }) => (pid === undefined ? [] : (identify(pid) ?? []))));
      } catch (error) {
        tell(`${files.lock} cannot be written: ${String(error)}`);
      }
    },
    release: () => rmSync(files.lock, { force: true }),
  };
}

async function endAll(processes: readonly ProcessIdentity[]): Promise<void> {
  const deadline = Date.now() + KILLED_WITHIN_MS;
  for (const identity of processes) {
    while (isAlive(identity) && Date.now() < deadline) {
      killProcess(identity);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
