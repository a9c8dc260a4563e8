import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { NODE_ARGUMENTS, NODE_ENVIRONMENT, TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import { scriptIn } from "../../program-script.ts";
import { SIZE } from "./size.ts";

/** A checkout of the product, with its compiled programs. */
export interface Build {
  /** Distinguishes the builds of one run: also names its database and its logs. */
  readonly name: BuildName;
  readonly folder: string;
}

export type BuildName = "this" | "other";

export type ServiceName = "accounts" | "records" | "webhook";
export type ProgramName = "gateway" | ServiceName;

export const scriptOf = ({ folder }: Pick<Build, "folder">, program: ProgramName): string => scriptIn(folder, program);

export const migrationsOf = ({ folder }: Pick<Build, "folder">, service: ServiceName): string =>
  join(folder, "services", service, "migrations");

/**
 * Finds the programs of a checkout; without a folder those of this one.
 *
 * @throws if the checkout is not built
 */
export function findBuild(name: BuildName, folder: unknown, programs: readonly ProgramName[]): Build {
  const build = { name, folder: typeof folder === "string" && folder !== "" ? resolve(folder) : ROOT };
  const needed = programs.flatMap((program) => [
    scriptOf(build, program),
    ...(program === "gateway" ? [] : [migrationsOf(build, program)]),
  ]);
  const missing = needed.filter((path) => !existsSync(path));
  if (missing.length > 0)
    throw new Error(`${basename(build.folder)} is no built checkout: run npm ci and npm run build there. It lacks ${missing[0]}`);
  return build;
}

/** The repository's root. This file runs compiled, in test/dist/bench. */
export const ROOT = join(import.meta.dirname, "../../../..");

const STOP_MS_MAX = 20_000;
const READY_MS_MAX = 120_000;
/** Programs run side by side, so the system chooses ports unless a benchmark names some. */
const ANY_PORT = { RPC_PORT: "0", ADMIN_PORT: "0" };
/** Benchmarks prepare their data as the operator. */
const AS_OPERATOR = { RPC_OPERATOR_WITHOUT_TLS: "true" };

export interface ProgramOptions {
  readonly name: string;
  /** A compiled main module that sends `{ready: …}` once it is ready, and ends when its parent ends. */
  readonly script: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface ProgramPlace {
  /** Folder for log files. */
  readonly folder: string;
  /** Folder for CPU profiles, which make everything slower. No profiles are taken if it is undefined. */
  readonly profileDir: string | undefined;
}

export interface Program {
  readonly name: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** Resolves with the value that the program sent as `ready`. */
  readonly ready: Promise<unknown>;
  /** Rejects with the last lines of the program's log if the program ends before `stop`. */
  readonly ended: Promise<never>;
  stop(): Promise<void>;
}

/** Starts a program on free ports, with only PATH and BENCH_SIZE from the environment: other settings there must not affect the result. */
export function startProgram({ name, script, env = {} }: ProgramOptions, { folder, profileDir }: ProgramPlace): Program {
  const profiling = profileDir === undefined ? [] : ["--cpu-prof", "--cpu-prof-dir", profileDir, "--cpu-prof-name", `${name}.cpuprofile`];
  const logFile = join(folder, `${name}.log`);
  const output = openSync(logFile, "a");
  const child = fork(script, {
    execArgv: [...NODE_ARGUMENTS, ...profiling],
    env: { PATH: process.env["PATH"], BENCH_SIZE: SIZE, ...NODE_ENVIRONMENT, ...ANY_PORT, ...AS_OPERATOR, ...env },
    stdio: ["ignore", output, output, "ipc"],
    // A process group of its own: Ctrl-C reaches a whole group at once, but programs must stop in order.
    detached: true,
  });
  closeSync(output);
  let isStopping = false;
  const exited = once(child, "exit");
  const ended = exited.then(([code, signal]): Promise<never> => {
    if (isStopping) return new Promise(() => {});
    throw new Error(`${name} ended unexpectedly (${signal ?? `exit code ${code}`}):\n${tail(logFile)}`);
  });
  // Callers that wait for `ended` handle its rejection. For all others it must not be an unhandled rejection.
  ended.catch(() => {});
  const first = Promise.race([ended, once(child, "message")]);
  const ready = withTimeout(first, READY_MS_MAX).then((received) => {
    if (received === TIMED_OUT) throw new Error(`${name} is not ready after ${READY_MS_MAX / 1_000} s:\n${tail(logFile)}`);
    return (received[0] as { ready: unknown }).ready;
  });
  ready.catch(() => {});
  return {
    name,
    pid: child.pid ?? 0,
    child,
    ready,
    ended,
    async stop() {
      isStopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const kill = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
      await exited;
      clearTimeout(kill);
    },
  };
}

function tail(path: string): string {
  return readFileSync(path, "utf8").split("\n").slice(-15).join("\n").trimEnd();
}

/** Imports a compiled module of a service: the measured statements are the product's own. */
export async function importBuilt<Module>(path: string): Promise<Module> {
  return (await import(pathToFileURL(join(ROOT, path)).href)) as Module;
}
