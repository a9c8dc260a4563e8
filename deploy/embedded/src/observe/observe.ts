import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Lifecycle } from "@brand-records/lifecycle";
import type { Terminal } from "../launch.ts";
import { takeLauncherLock } from "../launcher-lock.ts";
import { type LocalFiles, observeFiles, readJson, ROOT, writeJson } from "../local-files.ts";
import { requireFreePort } from "../requirements.ts";
import type { RunFile } from "../run-file.ts";
import { Child } from "./child.ts";
import type { ObserveConfig } from "./config.ts";
import type { Tools } from "./tools.ts";

const HOST = "127.0.0.1";
const SOURCE = join(ROOT, "deploy/observability");
/** More than fits is deleted, oldest first: a day of this system takes about 30 MB. */
const DATA_MAX = "1GB";

interface ObserveEvents {
  /** One of the programs ended although nothing stopped it. */
  exited(name: string): void;
}

/** Starts Prometheus and Alertmanager beside `npm start`. When this settles, `life` owns everything that was started. */
export async function observe(
  config: ObserveConfig,
  tools: Tools,
  local: LocalFiles,
  life: Lifecycle,
  terminal: Terminal,
  events: ObserveEvents,
): Promise<void> {
  const files = observeFiles(local);
  mkdirSync(files.directory, { recursive: true });
  const lock = await takeLauncherLock(files);
  life.own("lock", { stop: lock.release });
  await requireFreePort(HOST, config.PROMETHEUS_PORT, { setting: "PROMETHEUS_PORT", command: "npm run observe" });
  await requireFreePort(HOST, config.ALERTMANAGER_PORT, { setting: "ALERTMANAGER_PORT", command: "npm run observe" });

  const targets = new TargetFile(local, files.directory, (isRunning) =>
    terminal.say(isRunning ? "npm start is running: watching its processes" : "npm start is not running here: waiting for it"),
  );
  life.own("targets", targets);
  targets.start();

  const children: Child[] = [];
  const run = async (name: string, command: string, args: readonly string[], readyUrl: string): Promise<void> => {
    const logFile = join(local.logs, `${name}.log`);
    const child = await Child.start({
      name,
      command,
      args,
      logFile,
      readyUrl,
      onExit: () => events.exited(name),
      onLogError: (error) => terminal.say(`${logFile} grows, because it cannot be rotated: ${String(error)}`),
    });
    life.own(name, child);
    children.push(child);
    lock.note(children.map(({ pid }) => pid));
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
  writeFileSync(configFile, JSON.stringify(prometheusConfig(targets.path, `${HOST}:${config.ALERTMANAGER_PORT}`), null, 2));
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
 * last run stay, so that the alerts name what is down.
 */
export class TargetFile {
  readonly path: string;
  readonly #files: LocalFiles;
  readonly #onChange: (isRunning: boolean) => void;
  #written = "";
  #wasRunning: boolean | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(files: LocalFiles, folder: string, onChange: (isRunning: boolean) => void) {
    this.#files = files;
    this.path = join(folder, "targets.json");
    this.#onChange = onChange;
  }

  start(): void {
    this.#update();
    this.#timer = setInterval(() => this.#update(), EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
  }

  #update(): void {
    const run = readJson(this.#files.run) as Pick<RunFile, "admin"> | undefined;
    const isRunning = run !== undefined;
    const groups = isRunning ? groupsOf(run.admin) : ((readJson(this.path) as readonly TargetGroup[] | undefined) ?? []);
    const text = JSON.stringify(groups);
    // Replaces the file: Prometheus never reads half of it.
    if (text !== this.#written) writeJson(this.path, groups);
    this.#written = text;
    if (isRunning !== this.#wasRunning) this.#onChange(isRunning);
    this.#wasRunning = isRunning;
  }
}

const groupsOf = (admin: RunFile["admin"]): TargetGroup[] =>
  Object.entries(admin).map(([service, url]) => ({ targets: [new URL(url).host], labels: { service } }));
