import { mkdirSync } from "node:fs";
import type { Lifecycle } from "@brand-records/lifecycle";
import { banner } from "./banner.ts";
import type { LauncherConfig } from "./config.ts";
import { startDatabase } from "./database.ts";
import { seedDemo } from "./demo.ts";
import { takeLauncherLock } from "./launcher-lock.ts";
import { loadSecrets, readJson, writeJson, type LocalFiles } from "./local-files.ts";
import { requireFreePort } from "./ports.ts";
import { planPrograms } from "./programs.ts";
import type { RunFile } from "./run-file.ts";
import { Supervisor } from "./supervisor.ts";

export interface Terminal {
  /** A step under way. */
  step(text: string): void;
  say(text: string): void;
}

/** From nothing to a working system: database, processes, demo data, run file. Whatever was started is owned by `life`. */
export async function launch(
  config: LauncherConfig,
  files: LocalFiles,
  life: Lifecycle,
  terminal: Terminal,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  mkdirSync(files.directory, { recursive: true });
  const lock = await takeLauncherLock(files);
  life.own("lock", { stop: lock.release });
  await requireFreePort(config.HOST, config.PORT);

  terminal.step("Starting the database");
  const secrets = loadSecrets(files);
  const told = {
    died: (name: string, why: string, backOffMs: number) => terminal.say(`${name} ended (${why}); starting it again in ${backOffMs} ms`),
    recovered: (name: string) => terminal.say(`${name} is back`),
  };
  const database = life.own("database", await startDatabase(config, files, secrets, told));

  terminal.step("Starting the processes");
  const programs = await planPrograms(config, files, secrets, database, env);
  const supervisors: Supervisor[] = [];
  const events = { ...told, changed: () => lock.note(supervisors.flatMap(({ pid }) => pid ?? [])) };
  for (const program of programs.list) supervisors.push(life.own(program.name, new Supervisor(program, events)));
  await Promise.all(supervisors.map((supervisor) => supervisor.start()));

  const earlier = (readJson(files.run) as RunFile | undefined)?.brands ?? [];
  const brands = await seedDemo(programs.rpc, earlier, (text) => terminal.step(`Making demo data: ${text}`));
  const baseUrl = `http://${config.HOST === "0.0.0.0" ? "127.0.0.1" : config.HOST}:${config.PORT}`;
  const run: RunFile = { base_url: baseUrl, admin: programs.admin, rpc: programs.rpc, brands };
  writeJson(files.run, run);
  terminal.say(banner(run, { redis: config.REDIS_URL !== undefined, database: config.DATABASE_URL !== undefined }));
}
