import { execFile } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { hasSignInLinks } from "@brand-records/config";
import type { Lifecycle } from "@brand-records/lifecycle";
import { banner, exampleBrand } from "./banner.ts";
import type { LauncherConfig } from "./config.ts";
import { startDatabase } from "./database.ts";
import { createSignInUrl, findPendingSubmission, seedDemo } from "./demo.ts";
import { takeLauncherLock } from "./launcher-lock.ts";
import { loadSecrets, type LocalFiles, readJson, ROOT, writeJson } from "./local-files.ts";
import { planPrograms, publicUrlOf } from "./programs.ts";
import { LaunchError, requireFreePort } from "./requirements.ts";
import type { RunBrand, RunFile } from "./run-file.ts";
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
  // No other file that outlives a run has the keys of the demo's brands.
  const known = (readJson(files.demoBrands) as RunBrand[] | undefined) ?? [];
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
  const database = life.own("database", await startDatabase(config, files, secrets, reports, killed));

  signal.throwIfAborted();
  terminal.step("Starting the processes");
  const programs = await planPrograms(config, files, secrets, database, env);
  const supervisors: Supervisor[] = [];
  const events = { ...reports, changed: () => lock.note(supervisors, terminal.say) };
  const supervise = (program: Program): Supervisor => {
    const supervisor = life.own(program.name, new Supervisor(program, events));
    supervisors.push(supervisor);
    killed.addEventListener("abort", () => supervisor.kill(), { once: true });
    return supervisor;
  };
  await Promise.all(programs.services.map((program) => supervise(program).start()));

  signal.throwIfAborted();
  const platformUrl = await database.platformUrl();
  const brands = await seedDemo({
    addresses: programs.rpc,
    environment: config.ENVIRONMENT,
    known,
    save: (saved) => writeJson(files.demoBrands, saved),
    progress: (text) => terminal.step("Making demo data", text),
    signal,
  });
  const brand = exampleBrand(brands);
  const pending = brand === undefined ? undefined : await findPendingSubmission(programs.rpc.records, brand.id);

  signal.throwIfAborted();
  terminal.step("Building the console");
  await building;
  signal.throwIfAborted();
  terminal.step("Starting the console and the gateway");
  await supervise(programs.console).start();
  const gateway = supervise(programs.gateway);
  const consoleUrl = publicUrlOf(config);
  const hasLinks = brand !== undefined && hasSignInLinks(env);
  const run: RunFile = {
    base_url: `http://${reachableHost(config.HOST)}:${config.PORT}`,
    launcher: lock.launcher,
    admin: programs.admin,
    rpc: programs.rpc,
    platform_database_url: platformUrl,
    console: { url: consoleUrl, sign_in_url: hasLinks ? await createSignInUrl(programs.rpc.accounts, consoleUrl, brand.owner) : null },
    brands,
  };
  // Owned last, removed first: while the file exists, so does everything it names.
  writeJson(files.run, run);
  life.own("run file", { stop: removeRunFile });
  await gateway.start();
  terminal.say(banner(run, config, files, pending));
}

/** The host to call from this machine: loopback if `host` is every address, IPv6 in brackets. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/**
 * Builds the console's files for browsers, unless those of the present sources exist.
 *
 * @param ended ends the build, which removes what is incomplete
 * @param killed ends it immediately
 * @throws LaunchError with the compiler's output, once the build's process has exited
 */
async function buildWebFiles(ended: AbortSignal, killed: AbortSignal): Promise<void> {
  const building = promisify(execFile)(process.execPath, [join(ROOT, "console/web/build.js")]);
  const endWith = (signal: NodeJS.Signals) => (): void => void building.child.kill(signal);
  ended.addEventListener("abort", endWith("SIGTERM"), { once: true });
  killed.addEventListener("abort", endWith("SIGKILL"), { once: true });
  try {
    await building;
  } catch (error) {
    const { stderr = "" } = error as { readonly stderr?: string };
    throw new LaunchError(`The console could not be built.\n${stderr}`, { cause: error });
  }
}
