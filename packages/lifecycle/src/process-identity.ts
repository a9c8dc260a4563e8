import { readdirSync, readFileSync } from "node:fs";

/** Identifies a process. The pid alone does not: the system reuses it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** The start time in clock ticks since the machine's start; undefined on systems without /proc. */
  readonly startedAt: string | undefined;
}

/** Returns undefined if the process does not exist, or is a zombie whose threads have all ended. */
export function identify(pid: number): ProcessIdentity | undefined {
  if (!processExists(pid)) return undefined;
  try {
    // The second field, the program's name in parentheses, may contain anything. The start time is the 22nd field.
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
 * Whether a zombie still has running threads. A killed process whose main thread has ended keeps its files and ports until its last
 * thread ends. The main thread of a zombie is always listed, so one entry means that no thread runs.
 */
function hasThreads(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).length > 1;
}

export function isAlive({ pid, startedAt }: ProcessIdentity): boolean {
  const now = identify(pid);
  return now !== undefined && now.startedAt === startedAt;
}

/** Kills the process with SIGKILL, unless its pid belongs to another process by now. */
export function killProcess(identity: ProcessIdentity): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
