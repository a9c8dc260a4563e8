import { mkdirSync, rmSync, unwatchFile, watchFile, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Lifecycle, Stoppable } from "@brand-records/lifecycle";
import type { Interruption, Terminal } from "../launch.ts";
import { takeLauncherLock } from "../launcher-lock.ts";
import { type LocalFiles, observeFiles, readJson, ROOT, writeJson } from "../local-files.ts";
import { requireFreePort } from "../requirements.ts";
import type { RunFile } from "../run-file.ts";
import { Supervisor } from "../supervisor.ts";
import type { ObserveConfig } from "./config.ts";
import type { Tools } from "./tools.ts";

const HOST = "127.0.0.1";
const SOURCE = join(ROOT, "deploy/observability");
/** More than fits is deleted, oldest first: a day of this system takes about 30 MB. */
const DATA_MAX = "1GB";

/**
 * Starts Prometheus and Alertmanager beside `npm start`. When this settles, `life` owns everything that was started.
 *
 * @param onExit called with the program that ended although nothing stopped it
 */
export async function observe(
  config: ObserveConfig,
  tools: Tools,
  local: LocalFiles,
  life: Lifecycle,
  terminal: Terminal,
  { killed }: Interruption,
  onExit: (name: string) => void,
): Promise<void> {
  const files = observeFiles(local);
  mkdirSync(files.directory, { recursive: true });
  const lock = await takeLauncherLock(files);
  life.own("lock", { stop: lock.release });
  await requireFreePort(HOST, config.PROMETHEUS_PORT, { setting: "PROMETHEUS_PORT", command: "npm run observe" });
  await requireFreePort(HOST, config.ALERTMANAGER_PORT, { setting: "ALERTMANAGER_PORT", command: "npm run observe" });

  const targetFile = join(files.directory, "targets.json");
  const targets = keepTargets(local.run, targetFile, (isRunning) =>
    terminal.say(isRunning ? "npm start is running: watching its processes" : "npm start is not running here: waiting for it"),
  );
  life.own("targets", targets);

  const supervisors: Supervisor[] = [];
  const run = async (name: string, command: string, args: readonly string[], readyUrl: string): Promise<void> => {
    const logFile = join(local.logs, `${name}.log`);
    rmSync(logFile, { force: true });
    const supervisor = new Supervisor(
      { name, command, args, readyUrl, logFile },
      {
        changed: () => lock.note(supervisors, terminal.say),
        died: onExit,
        recovered: () => {},
        unlogged: (_, error) => terminal.say(`${logFile} grows, because it cannot be rotated: ${String(error)}`),
      },
    );
    supervisors.push(life.own(name, supervisor));
    killed.addEventListener("abort", () => supervisor.kill(), { once: true });
    await supervisor.start();
  };
  const urls = { prometheus: `http://${HOST}:${config.PROMETHEUS_PORT}`, alertmanager: `http://${HOST}:${config.ALERTMANAGER_PORT}` };

  terminal.step("Starting Alertmanager");
  const alertmanager = [
    `--config.file=${join(SOURCE, "alertmanager.yml")}`,
    `--storage.path=${join(files.directory, "alertmanager")}`,
    `--web.listen-address=${HOST}:${config.ALERTMANAGER_PORT}`,
    `--web.external-url=${urls.alertmanager}`,
    // It has no peers.
    "--cluster.listen-address=",
    "--log.level=warn",
  ];
  await run("alertmanager", tools.alertmanager, alertmanager, `${urls.alertmanager}/-/ready`);

  terminal.step("Starting Prometheus");
  const configFile = join(files.directory, "prometheus.json");
  writeFileSync(configFile, JSON.stringify(prometheusConfig(targetFile, `${HOST}:${config.ALERTMANAGER_PORT}`), null, 2));
  const prometheus = [
    `--config.file=${configFile}`,
    `--storage.tsdb.path=${join(files.directory, "prometheus")}`,
    `--storage.tsdb.retention.size=${DATA_MAX}`,
    `--web.listen-address=${HOST}:${config.PROMETHEUS_PORT}`,
    `--web.external-url=${urls.prometheus}`,
    "--log.level=warn",
  ];
  await run("prometheus", tools.prometheus, prometheus, `${urls.prometheus}/-/ready`);

  terminal.say(`
  Prometheus    ${urls.prometheus}  rules, alerts, processes
  Alertmanager  ${urls.alertmanager}  alerts that fire
  Runbooks      docs/runbooks/README.md

  Data is in ${files.directory}. Ctrl-C stops both; npm start goes on.
`);
}

/** The interval is the one that the rules expect. Prometheus reads JSON as YAML. */
function prometheusConfig(targetFile: string, alertmanager: string): object {
  return {
    global: { scrape_interval: "15s", scrape_timeout: "10s", evaluation_interval: "15s" },
    rule_files: [join(SOURCE, "rules/*.yml")],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
    scrape_configs: [
      {
        job_name: "brand-records",
        // Targets and metrics have the same label `service`.
        honor_labels: true,
        file_sd_configs: [{ files: [targetFile], refresh_interval: "5s" }],
      },
    ],
  };
}

/** Prometheus' file_sd: groups of targets with their labels. */
interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

const EVERY_MS = 1_000;

/**
 * Keeps the targets of Prometheus those of the running system: a restart of `npm start` has other ports. While nothing runs, the targets of the
 * last run stay, so that the alerts name what is down. Replaces the file: Prometheus never reads half of it.
 */
function keepTargets(runFile: string, targetFile: string, onChange: (isRunning: boolean) => void): Stoppable {
  let wasRunning: boolean | undefined;
  const update = (): void => {
    const run = readJson(runFile) as Pick<RunFile, "admin"> | undefined;
    const isRunning = run !== undefined;
    if (isRunning) writeJson(targetFile, groupsOf(run.admin));
    else if (readJson(targetFile) === undefined) writeJson(targetFile, []);
    if (isRunning !== wasRunning) onChange(isRunning);
    wasRunning = isRunning;
  };
  update();
  watchFile(runFile, { interval: EVERY_MS }, update);
  return { stop: () => unwatchFile(runFile, update) };
}

const groupsOf = (admin: RunFile["admin"]): TargetGroup[] =>
  Object.entries(admin).map(([name, url]) => {
    const [service = "", cell] = name.split("-");
    return { targets: [new URL(url).host], labels: { service, ...(cell !== undefined && { cell }) } };
  });
