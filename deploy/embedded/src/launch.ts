import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { hasSignInLinks } from "@brand-records/config";
import type { Lifecycle } from "@brand-records/lifecycle";
import { banner } from "./banner.ts";
import type { LauncherConfig } from "./config.ts";
import { startDatabase, type RunningDatabase } from "./database.ts";
import type { Demo, DemoParts } from "./demo.ts";
import { takeLauncherLock } from "./launcher-lock.ts";
import { cellFiles, cellsOf, loadSecrets, type LocalFiles, ROOT, writeJson } from "./local-files.ts";
import { planPrograms, publicUrlOf } from "./programs.ts";
import { LaunchError, requireFreePort } from "./requirements.ts";
import type { RunFile } from "./run-file.ts";
import { type Program, Supervisor } from "./supervisor.ts";

export interface Terminal {
  /** Shows the step in progress. */
  step(text: string, detail?: string): void;
  say(text: string): void;
}

export interface Interruption {
  /** Ends the start early, between two steps. */
  readonly interrupted: AbortSignal;
  /** Ends every process immediately: whatever `life` stops then stops without a delay. */
  readonly killed: AbortSignal;
}

/**
 * Starts a working system from nothing: database, processes, demo data, run file. When this settles, `life` owns everything
 * that was started.
 */
export async function launch(
  config: LauncherConfig,
  files: LocalFiles,
  life: Lifecycle,
  terminal: Terminal,
  env: NodeJS.ProcessEnv,
  { interrupted: signal, killed }: Interruption,
): Promise<void> {
  mkdirSync(files.directory, { recursive: true });
  const lock = await takeLauncherLock(files);
  life.own("lock", { stop: lock.release });
  const removeRunFile = (): void => rmSync(files.run, { force: true });
  // A run that was killed leaves its run file.
  removeRunFile();
  await requireFreePort(config.HOST, config.PORT);

  terminal.step("Starting the database");
  const secrets = loadSecrets(files);
  const reports = {
    died: (name: string, why: string, backOffMs: number) => terminal.say(`${name} ended (${why}); starting it again in ${backOffMs} ms`),
    recovered: (name: string) => terminal.say(`${name} is back`),
    unlogged: (name: string, error: unknown) => terminal.say(`The log of ${name} cannot be written: ${String(error)}`),
  };
  const build = new AbortController();
  const building = buildWebFiles(AbortSignal.any([build.signal, signal]), killed);
  // Awaited below: an error of the database must not leave it unhandled.
  const built = building.catch(() => {});
  const endBuild = (): Promise<void> => {
    build.abort();
    return built;
  };
  life.own("build", { stop: endBuild });
  const names = config.DATABASE_URL === undefined ? cellsOf(files, config.CELLS) : [];
  const settings = names.length > 0 ? { wal_level: "logical" } : {};
  const database = life.own("database", await startDatabase(config, files, secrets, reports, killed, settings));
  const cells = new Map<string, RunningDatabase>();
  for (const name of names) {
    const started = startDatabase(config, cellFiles(files, name), secrets, reports, killed, settings);
    cells.set(name, life.own(`database of ${name}`, await started));
  }
  const owners = [["", database.ownerUrl], ...Array.from(cells, ([name, each]) => [name, each.ownerUrl])];

  signal.throwIfAborted();
  terminal.step("Starting the processes");
  const programs = await planPrograms(config, files, secrets, database, env, cells);
  const supervisors: Supervisor[] = [];
  const events = { ...reports, changed: () => lock.note(supervisors, terminal.say) };
  const supervise = (program: Program): Supervisor => {
    const supervisor = life.own(program.name, new Supervisor(program, events));
    supervisors.push(supervisor);
    killed.addEventListener("abort", () => supervisor.kill(), { once: true });
    return supervisor;
  };
  await Promise.all(programs.services.map((program) => supervise(program).start()));

  const platformUrl = await database.platformUrl();
  signal.throwIfAborted();
  const consoleUrl = publicUrlOf(config);
  const linksTo = hasSignInLinks(env) ? consoleUrl : null;
  const inCells = { cells: programs.cells, cell_databases: Object.fromEntries(cells.size === 0 ? [] : owners) };
  const parts = { addresses: programs.rpc, ...inCells, environment: config.ENVIRONMENT, file: files.demoBrands, linksTo };
  const demo = await makeDemo(parts, (step) => terminal.step("Making demo data", step), signal);

  signal.throwIfAborted();
  terminal.step("Building the console");
  await building;
  signal.throwIfAborted();
  terminal.step("Starting the console and the gateway");
  await supervise(programs.console).start();
  const gateway = supervise(programs.gateway);
  const run: RunFile = {
    base_url: `http://${reachableHost(config.HOST)}:${config.PORT}`,
    launcher: lock.launcher,
    admin: programs.admin,
    rpc: programs.rpc,
    ...inCells,
    platform_database_url: platformUrl,
    console: { url: consoleUrl, sign_in_url: demo.signInUrl },
    brands: demo.brands,
  };
  // Owned last, removed first: while the file exists, so does everything it names.
  writeJson(files.run, run);
  life.own("run file", { stop: removeRunFile });
  await gateway.start();
  terminal.say(banner(run, config, files, demo.pendingSubmission));
}

/** Makes the demo in a process of its own: its end gives back what gRPC and the records take. A thread's end leaves 7 MiB. */
async function makeDemo(parts: DemoParts, progress: (text: string) => void, interrupted: AbortSignal): Promise<Demo> {
  const script = join(import.meta.dirname, "demo.js");
  const child = fork(script, [JSON.stringify(parts)], { stdio: ["ignore", "ignore", "inherit", "ipc"], detached: true });
  interrupted.addEventListener("abort", () => child.kill(), { once: true });
  let demo: Demo | undefined;
  child.on("message", (message: string | Demo) => {
    if (typeof message === "string") progress(message);
    else demo = message;
  });
  await once(child, "close");
  interrupted.throwIfAborted();
  if (demo === undefined) throw new LaunchError("The demo could not be made.");
  return demo;
}

/** The host to call from this machine: loopback if `host` is every address, IPv6 in brackets. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/**
 * Builds the guides, and the console's files for browsers unless those of the present sources exist.
 *
 * @param ended ends the build, which removes what is incomplete
 * @param killed ends it immediately
 * @throws LaunchError with the compiler's output, once the build's process has exited
 */
async function buildWebFiles(ended: AbortSignal, killed: AbortSignal): Promise<void> {
  const scripts = ["gateway/guides/build.js", "console/web/build.js"].map((script) => join(ROOT, script));
  const building = promisify(execFile)(process.execPath, ["--import", ...scripts]);
  const endWith = (signal: NodeJS.Signals) => (): void => void building.child.kill(signal);
  ended.addEventListener("abort", endWith("SIGTERM"), { once: true });
  killed.addEventListener("abort", endWith("SIGKILL"), { once: true });
  try {
    await building;
  } catch (error) {
    const { stderr = "" } = error as { readonly stderr?: string };
    throw new LaunchError(`The pages for browsers could not be built.\n${stderr}`, { cause: error });
  }
}
