import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";

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

/** A dozen processes may start on two slow cores at the same time. */
const READY_MS = 120_000;
/** Tests run side by side, so the system chooses ports unless a test names some. */
const ANY_PORT = { RPC_PORT: "0", ADMIN_PORT: "0" };
/** Tests call services as the operator, mostly without TLS. */
const AS_OPERATOR = { RPC_OPERATOR_WITHOUT_TLS: "true" };
/** Earlier output is dropped: a load test logs gigabytes. */
const OUTPUT_CHARS_KEPT = 4_000_000;

export interface ProcessOptions {
  /** Name for messages. */
  readonly name: string;
  /** Compiled JavaScript. */
  readonly script: string;
  /** The whole environment besides PATH and free ports: settings in the developer's shell must not change a test. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: 2 minutes. */
  readonly readyMsMax?: number;
  /** Leaves the CPU to other processes until it is ready, as far as this user may give the priority back: see {@link canRaisePriority}. */
  readonly startsBehindOthers?: boolean;
  /** Called with everything the process writes, in the order of arrival. Not cut at lines. */
  onOutput?(text: string): void;
}

interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServiceProcess {
  readonly name: string;
  readonly pid: number;
  /** What it sent with `process.send({ ready: … })`. */
  readonly ready: object;
  /** Resolves after the exit, once all output has arrived. */
  readonly exited: Promise<ProcessExit>;
  /** Returns stdout and stderr in the order of arrival. */
  output(): string;
  /** Sends the signal (default: SIGTERM) and resolves when the process has ended. Does nothing to one that already has. */
  kill(signal?: NodeJS.Signals): Promise<ProcessExit>;
}

/**
 * Runs a service as a process and resolves when it is ready. It ends with the process that started it.
 *
 * @throws with its output if it ends first or is not ready within `readyMsMax`
 */
export async function startProcess({
  name,
  script,
  env = {},
  readyMsMax = READY_MS,
  startsBehindOthers,
  onOutput,
}: ProcessOptions): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ["--enable-source-maps", script], {
    env: { PATH: process.env["PATH"], ...compileCache(), ...ANY_PORT, ...AS_OPERATOR, ...env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const exited = once(child, "close").then(([code, signal]): ProcessExit => ({ code, signal }));
  const output = keepOutput(child, onOutput);
  killWithParent(child);
  const isBehind = startsBehindOthers === true && canRaisePriority() && child.pid !== undefined;
  if (isBehind) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const kill = (signal: NodeJS.Signals = "SIGTERM"): Promise<ProcessExit> => {
    child.ref();
    child.kill(signal);
    return exited;
  };
  try {
    const ready = await readyMessage(child, exited, readyMsMax);
    if (isBehind) setPriority(child.pid, constants.priority.PRIORITY_NORMAL);
    return { name, pid: child.pid as number, ready, exited, output, kill };
  } catch (error) {
    await kill("SIGKILL");
    throw new Error(`${name} ${error instanceof Error ? error.message : String(error)}. Its output:\n${output()}`, { cause: error });
  }
}

/** Only root may give a process a higher priority. */
const canRaisePriority = (): boolean => process.getuid?.() === 0;

/** Passes on the one variable that only shortens the start. */
function compileCache(): { readonly NODE_COMPILE_CACHE?: string } {
  const folder = process.env["NODE_COMPILE_CACHE"];
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

function readyMessage(child: ChildProcess, exited: Promise<ProcessExit>, readyMsMax: number): Promise<object> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`is not ready after ${readyMsMax / 1_000} s`)), readyMsMax);
    const onMessage = (message: unknown): void => {
      if (typeof message !== "object" || message === null || !("ready" in message)) return;
      clearTimeout(timer);
      child.off("message", onMessage);
      resolve(message.ready as object);
    };
    child.on("message", onMessage);
    exited.then(
      ({ code, signal }) => {
        clearTimeout(timer);
        reject(new Error(`ended before it was ready (${signal ?? `exit code ${code}`})`));
      },
      (error: Error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

function keepOutput(child: ChildProcess, onOutput: ProcessOptions["onOutput"]): () => string {
  const chunks: string[] = [];
  let length = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      onOutput?.(chunk);
      length += chunk.length;
      chunks.push(chunk);
      while (length > OUTPUT_CHARS_KEPT && chunks.length > 1) length -= chunks.shift()?.length ?? 0;
    });
  }
  return () => chunks.join("");
}
