import { mkdirSync } from "node:fs";
import type { Lifecycle } from "@brand-records/lifecycle";
import { banner, brandToShow } from "./banner.ts";
import type { LauncherConfig } from "./config.ts";
import { startDatabase } from "./database.ts";
import { findPendingSubmission, seedDemo } from "./demo.ts";
import { takeLauncherLock } from "./launcher-lock.ts";
import { loadSecrets, type LocalFiles } from "./local-files.ts";
import { requireFreePort } from "./ports.ts";
import { planPrograms } from "./programs.ts";
import { readDemoBrands, removeRunFile, writeDemoBrands, writeRunFile, type RunFile } from "./run-file.ts";
import { Supervisor, type Program } from "./supervisor.ts";

export interface Terminal {
  /** A step under way. */
  step(text: string): void;
  say(text: string): void;
}

/**
 * From nothing to a working system: database, processes, demo data, run file. Whatever was started is owned by `life` when
 * this settles; `signal` lets it end early, between two steps.
 */
export async function launch(
  config: LauncherConfig,
  files: LocalFiles,
  life: Lifecycle,
  terminal: Terminal,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  mkdirSync(files.directory, { recursive: true });
  const lock = await takeLauncherLock(files);
  life.own("lock", { stop: lock.release });
  const known = readDemoBrands(files);
  // Left by a run that was killed.
  removeRunFile(files);
  await requireFreePort(config.HOST, config.PORT);

  terminal.step("Starting the database");
  const secrets = loadSecrets(files);
  const told = {
    died: (name: string, why: string, backOffMs: number) => terminal.say(`${name} ended (${why}); starting it again in ${backOffMs} ms`),
    recovered: (name: string) => terminal.say(`${name} is back`),
  };
  const database = life.own("database", await startDatabase(config, files, secrets, told));

  signal.throwIfAborted();
  terminal.step("Starting the processes");
  const programs = await planPrograms(config, files, secrets, database, env);
  const supervisors: Supervisor[] = [];
  const events = { ...told, changed: () => lock.note(supervisors.flatMap(({ pid }) => pid ?? [])) };
  const supervise = (program: Program): Supervisor => {
    const supervisor = life.own(program.name, new Supervisor(program, events));
    supervisors.push(supervisor);
    return supervisor;
  };
  await Promise.all(programs.services.map((program) => supervise(program).start()));

  signal.throwIfAborted();
  const platformUrl = await database.platformUrl();
  const brands = await seedDemo({
    addresses: programs.rpc,
    environment: config.ENVIRONMENT,
    known,
    save: (made) => writeDemoBrands(files, made),
    progress: (text) => terminal.step(`Making demo data: ${text}`),
    signal,
  });
  const shown = brandToShow(brands);
  const pending = shown === undefined ? undefined : await findPendingSubmission(programs.rpc.records, shown.id);

  signal.throwIfAborted();
  terminal.step("Starting the gateway");
  const gateway = supervise(programs.gateway);
  const run: RunFile = {
    base_url: `http://${reachableHost(config.HOST)}:${config.PORT}`,
    launcher: lock.launcher,
    admin: programs.admin,
    rpc: programs.rpc,
    platform_database_url: platformUrl,
    brands,
  };
  // Owned last, hence removed first: while the file is there, so is what it names.
  life.own("run file", writeRunFile(files, run));
  await gateway.start();
  terminal.say(banner(run, config, files, pending));
}

/** Where a host that listens on every address can be reached from here; IPv6 as URLs want it. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
