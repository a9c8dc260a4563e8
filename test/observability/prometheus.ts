import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "@brand-records/postgres/embedded";
import { ControlledProcess, eventually, makeOwnedFolder, removeOrphanedFolders, startReserved } from "@brand-records/testkit";
import { stringify } from "yaml";
import { ensureBackingServices } from "../setup/ensure-backing-services.ts";
import { INTERVAL_MS, SCALE } from "./scale-rules.ts";

/**
 * A gauge that asks a frozen database waits for a second, and a scrape that waits less would find the whole process down. The shortest
 * range of the rules is 5 m, which is 5 s in a drill: a rate needs two samples in it.
 */
const SCRAPE_MS = 1_500;
const PREFIX = "brand-records-prometheus-";

export interface PrometheusOptions {
  /** Paths of rule files. `writeScaledRules` makes those for drills. */
  readonly rules: readonly string[];
  /** Admin addresses by service, as `admin` in run.json: `http://host:port`, or several of one service. */
  readonly targets: Readonly<Record<string, string | readonly string[]>>;
  /** How often rules are evaluated. Default: the interval of the scaled rules. */
  readonly evaluationMs?: number;
}

export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: "pending" | "firing";
  readonly value: string;
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A real Prometheus of one test, with nothing stored from earlier. */
export interface TestPrometheus {
  readonly url: string;
  /** Returns every alert that is pending or firing. */
  alerts(): Promise<readonly Alert[]>;
  /**
   * Resolves with the alert when one of this name, and with these labels, fires.
   *
   * @throws after the time (default: 60 s) with the alerts and targets as they are
   */
  untilFiring(name: string, labels?: Readonly<Record<string, string>>, timeoutMs?: number): Promise<Alert>;
  /** Resolves when no alert of this name, and with these labels, fires. */
  untilOver(name: string, labels?: Readonly<Record<string, string>>, timeoutMs?: number): Promise<void>;
  /** Evaluates an expression now. `max_over_time(ALERTS{alertstate="firing"}[1h])` is every alert that has fired so far. */
  query(expression: string): Promise<readonly Sample[]>;
  stop(): Promise<void>;
}

/** @throws if there is no Prometheus and none can be installed; ensure.sh prints the remedy */
export async function startPrometheus({ rules, targets, evaluationMs = INTERVAL_MS / SCALE }: PrometheusOptions): Promise<TestPrometheus> {
  const binary = (await ensureBackingServices("prometheus")).get("PROMETHEUS") ?? "";
  await removeOrphanedFolders(PREFIX);
  const folder = await makeOwnedFolder(PREFIX);
  const config = {
    global: { scrape_interval: `${SCRAPE_MS}ms`, scrape_timeout: `${SCRAPE_MS}ms`, evaluation_interval: `${Math.round(evaluationMs)}ms` },
    rule_files: rules,
    scrape_configs: [
      {
        job_name: "brand-records",
        honor_labels: true,
        static_configs: Object.entries(targets).map(([service, urls]) => ({
          targets: [urls].flat().map((url) => new URL(url).host),
          labels: { service },
        })),
      },
    ],
  };
  await writeFile(join(folder, "prometheus.yml"), stringify(config));
  try {
    const server = await startReserved(async () => new PrometheusProcess(binary, folder, await freePort()));
    return new RunningPrometheus(server, folder);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

class PrometheusProcess extends ControlledProcess {
  readonly #binary: string;
  readonly #folder: string;
  readonly #port: number;

  constructor(binary: string, folder: string, port: number) {
    super();
    this.#binary = binary;
    this.#folder = folder;
    this.#port = port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const args = [
      `--config.file=${join(this.#folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(this.#folder, "data")}`,
      `--web.listen-address=127.0.0.1:${this.#port}`,
      "--log.level=warn",
    ];
    const ping = async (): Promise<void> => void (await getJson(`${this.url}/api/v1/status/runtimeinfo`));
    await this.launch({ command: this.#binary, args, cwd: this.#folder, ping });
  }

  /** Keeps the configuration: after a failed start the next attempt uses another port. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(join(this.#folder, "data"), { recursive: true, force: true });
  }
}

class RunningPrometheus implements TestPrometheus {
  readonly #server: PrometheusProcess;
  readonly #folder: string;

  constructor(server: PrometheusProcess, folder: string) {
    this.#server = server;
    this.#folder = folder;
  }

  get url(): string {
    return this.#server.url;
  }

  async alerts(): Promise<readonly Alert[]> {
    const { alerts } = (await getJson(`${this.url}/api/v1/alerts`)) as { alerts: readonly Alert[] };
    return alerts;
  }

  untilFiring(name: string, labels: Readonly<Record<string, string>> = {}, timeoutMs = 60_000): Promise<Alert> {
    return this.#until(timeoutMs, async () => {
      const alert = firing(await this.alerts(), name, labels)[0];
      if (alert === undefined) throw new Error(`${name} ${JSON.stringify(labels)} does not fire. ${await this.#state()}`);
      return alert;
    });
  }

  untilOver(name: string, labels: Readonly<Record<string, string>> = {}, timeoutMs = 60_000): Promise<void> {
    return this.#until(timeoutMs, async () => {
      const alerts = firing(await this.alerts(), name, labels);
      if (alerts.length > 0) throw new Error(`${name} still fires. ${await this.#state()}`);
    });
  }

  async query(expression: string): Promise<readonly Sample[]> {
    const { result } = (await getJson(`${this.url}/api/v1/query?query=${encodeURIComponent(expression)}`)) as {
      result: readonly { metric: Record<string, string>; value: readonly [number, string] }[];
    };
    return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #until<T>(timeoutMs: number, check: () => Promise<T>): Promise<T> {
    return eventually(check, { timeoutMs, everyMs: 100 });
  }

  /** Tells, for the message of a failed test, what is pending or firing, and which targets and rules fail. */
  async #state(): Promise<string> {
    const alerts = (await this.alerts()).map(({ labels, state, value }) => ({ ...labels, state, value }));
    const { activeTargets } = (await getJson(`${this.url}/api/v1/targets`)) as {
      activeTargets: readonly { labels: Record<string, string>; lastError: string }[];
    };
    const { groups } = (await getJson(`${this.url}/api/v1/rules`)) as {
      groups: readonly { rules: readonly { name: string; lastError?: string }[] }[];
    };
    const targets = activeTargets.filter(({ lastError }) => lastError !== "").map(({ labels, lastError }) => ({ ...labels, lastError }));
    const rules = groups
      .flatMap(({ rules }) => rules)
      .flatMap(({ name, lastError = "" }) => (lastError === "" ? [] : [{ name, lastError }]));
    return JSON.stringify({ alerts, targets, rules }, null, 2);
  }
}

function firing(alerts: readonly Alert[], name: string, labels: Readonly<Record<string, string>>): readonly Alert[] {
  const wanted = Object.entries({ alertname: name, ...labels });
  return alerts.filter((alert) => alert.state === "firing" && wanted.every(([label, value]) => alert.labels[label] === value));
}

async function getJson(url: string): Promise<unknown> {
  const response = await fetch(url);
  const body = (await response.json()) as { status: string; data: unknown; error?: string };
  if (body.status !== "success") throw new Error(`${url}: ${body.error ?? response.status}`);
  return body.data;
}
