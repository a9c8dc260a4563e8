import { readdirSync, readFileSync } from "node:fs";

/** A process, not just its number: numbers are given again to others. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In ticks since the machine's start; absent where the system does not tell (there is no /proc). */
  readonly startedAt: string | undefined;
}

/** Returns undefined if there is no such process. */
export function identify(pid: number): ProcessIdentity | undefined {
  if (!processExists(pid)) return undefined;
  try {
    // The second field, the program's name in parentheses, may hold anything; the start is the 22nd.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" && !hasThreads(pid) ? undefined : { pid, startedAt: fields[18] };
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === "open" && process.platform !== "linux") return { pid, startedAt: undefined };
    if (code === "ESRCH" || code === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether a process has this id now, including another user's process and a zombie. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * A killed process whose first thread is gone already holds its files and ports until the last of the others is; its
 * own number stays listed, also when nobody ever asks how it ended.
 */
function hasThreads(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).length > 1;
}

export function isAlive({ pid, startedAt }: ProcessIdentity): boolean {
  const now = identify(pid);
  return now !== undefined && now.startedAt === startedAt;
}

/** Ends it, if it still is that process. */
export function killProcess(identity: ProcessIdentity): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
