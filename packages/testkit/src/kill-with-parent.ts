import { spawn, type ChildProcess } from "node:child_process";

/**
 * SIGKILLs `child` when this process ends, however it ends. An exit hook is not enough: jest workers that run out of memory
 * and killed test runs skip it, and the child would keep its port.
 *
 * A shell waits on a pipe whose other end only this process holds. A line through the pipe means that the child has exited:
 * the shell then kills nothing, because another process may have the same id by now. Neither the child nor the shell keeps
 * this process alive.
 */
export function killWithParent(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const watchdog = spawn("/bin/sh", ["-c", 'read -r gone || kill -KILL "$0"', String(child.pid)], {
    cwd: "/",
    detached: true, // Ctrl-C must not end it first.
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.stdin.on("error", () => {}); // The watchdog itself was killed.
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
