import { spawn, type ChildProcess } from "node:child_process";

/**
 * SIGKILLs `child` when this process ends, however it ends. An exit hook would not do: jest workers that run out of memory
 * and test runs that are killed skip it, and what they started keeps its port for good.
 *
 * A shell waits for the other end of a pipe that only we hold. A line through it means the child is gone already, so a
 * process that got the same id later is never hit. Neither child nor shell keeps this process from ending.
 */
export function killWithParent(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const watchdog = spawn("/bin/sh", ["-c", 'read -r gone || kill -KILL "$0"', String(child.pid)], {
    cwd: "/",
    detached: true, // Ctrl-C would end it before its duty.
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.stdin.on("error", () => {}); // Somebody ended the watchdog: nothing left to tell it.
  child.once("exit", () => watchdog.stdin.end("gone\n"));
  watchdog.unref();
  unref(watchdog);
  unref(child);
}

function unref(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  for (const stream of child.stdio ?? []) (stream as { unref?(): void } | null | undefined)?.unref?.();
}
