import { join } from "node:path";
import { freePort } from "@brand-records/postgres/embedded";
import type { LauncherConfig } from "./config.ts";
import { SERVICES, type RunningDatabase, type ServiceName } from "./database.ts";
import { ROOT, type LocalFiles, type Secrets } from "./local-files.ts";
import type { Program } from "./supervisor.ts";

export interface Programs {
  readonly services: readonly Program[];
  readonly console: Program;
  readonly gateway: Program;
  /** gRPC addresses. */
  readonly rpc: Readonly<Record<ServiceName, string>>;
  /** Those of records in cells. */
  readonly cells: Readonly<Record<string, string>>;
  /** Metrics and probes. */
  readonly admin: Readonly<Record<string, string>>;
}

/** Plans every process of the run. A process that restarts keeps its ports. */
export async function planPrograms(
  config: LauncherConfig,
  files: LocalFiles,
  secrets: Secrets,
  database: RunningDatabase,
  inherited: NodeJS.ProcessEnv,
  databasesOfCells: ReadonlyMap<string, RunningDatabase> = new Map(),
): Promise<Programs> {
  const ports = await freePorts(2 * (SERVICES.length + databasesOfCells.size) + 3);
  const next = (): string => `127.0.0.1:${ports.pop()}`;
  const rpc = Object.fromEntries(SERVICES.map((name) => [name, next()])) as Record<ServiceName, string>;
  const cells = Object.fromEntries(Array.from(databasesOfCells.keys(), (cell) => [cell, next()]));
  const consoleAddress = next();
  const processes = [...SERVICES, "console", "gateway", ...Object.keys(cells).map((cell) => `records-${cell}`)];
  const admin: Record<string, string> = Object.fromEntries(processes.map((name) => [name, next()]));
  const PUBLIC_URL = publicUrlOf(config);
  const portIn = (address: string): string => address.slice(address.lastIndexOf(":") + 1);

  const program = (name: string, directory: string, env: Record<string, string>): Program => {
    const logFile = join(files.logs, `${name}.log`);
    return {
      name,
      script: join(ROOT, directory, "dist/main.js"),
      // No balancer stands before the processes of one machine, so a stop needs no grace period.
      env: { ...inherited, ...withoutFiles(env), ADMIN_PORT: portIn(admin[name] ?? ""), STOP_GRACE_MS: "0", LOG_FILE: logFile },
      logFile,
    };
  };
  const service = (name: ServiceName, env: Record<string, string> = {}, process: string = name, address = rpc[name]): Program =>
    program(process, `services/${name}`, {
      DATABASE_URL: database.urlFor(name),
      ...env,
      RPC_PORT: portIn(address),
      // brandctl calls without TLS. Only this machine reaches the ports.
      RPC_OPERATOR_WITHOUT_TLS: inherited["RPC_OPERATOR_WITHOUT_TLS"] ?? "true",
    });

  return {
    rpc,
    cells,
    admin: Object.fromEntries(Object.entries(admin).map(([name, address]) => [name, `http://${address}`])),
    services: [
      service("accounts", { PUBLIC_URL, ...secretOf("KEY_PEPPERS", inherited, secrets.keyPeppers) }),
      service("plans", { ACCOUNTS_ADDRESS: rpc.accounts }),
      service("webhook", {
        ACCOUNTS_ADDRESS: rpc.accounts,
        // Set for trials on this machine only: elsewhere it would expose the host's ports.
        RECEIVERS_ON_LOOPBACK: inherited["RECEIVERS_ON_LOOPBACK"] ?? "true",
        PUBLIC_URL,
        ...secretOf("RECEIVER_SECRET_KEYS", inherited, secrets.receiverSecretKeys),
      }),
      // The address it hands events to without KAFKA_BROKERS.
      service("records", { WEBHOOK_ADDRESS: rpc.webhook }),
      ...Array.from(databasesOfCells, ([cell, its]) =>
        service("records", { WEBHOOK_ADDRESS: rpc.webhook, DATABASE_URL: its.urlFor("records") }, `records-${cell}`, cells[cell]),
      ),
    ],
    console: program("console", "console/server", {
      HOST: "127.0.0.1",
      PORT: portIn(consoleAddress),
      PUBLIC_URL,
      ACCOUNTS_ADDRESS: rpc.accounts,
      PLANS_ADDRESS: rpc.plans,
      WEBHOOK_ADDRESS: rpc.webhook,
    }),
    gateway: program("gateway", "gateway", {
      PUBLIC_URL,
      CONSOLE_ADDRESS: consoleAddress,
      HOST: config.HOST,
      PORT: String(config.PORT),
      // Allows pages served from this machine, such as a browser-based inspector for assistants.
      ALLOWED_ORIGINS: inherited["ALLOWED_ORIGINS"] ?? "http://localhost:*,http://127.0.0.1:*,http://[::1]:*",
      ACCOUNTS_ADDRESS: rpc.accounts,
      PLANS_ADDRESS: rpc.plans,
      RECORDS_ADDRESS: rpc.records,
      ...(databasesOfCells.size > 0 && { RECORDS_CELLS: Array.from(Object.entries(cells), (cell) => cell.join("=")).join(",") }),
    }),
  };
}

/** Adds that no file holds these: one of the run's environment, such as DATABASE_URL_FILE, may. */
const withoutFiles = (env: Readonly<Record<string, string>>): Record<string, string> => ({
  ...Object.fromEntries(Object.keys(env).map((name) => [`${name}_FILE`, ""])),
  ...env,
});

/** A secret of the run's environment, which the process reads itself if a file holds it; else the run's own. */
const secretOf = (name: string, inherited: NodeJS.ProcessEnv, own: string): Record<string, string> =>
  inherited[`${name}_FILE`] ? {} : { [name]: inherited[name] ?? own };

/** Where people open the console. Not 127.0.0.1: it would have other cookies than localhost. */
export const publicUrlOf = ({ PUBLIC_URL, PORT }: Pick<LauncherConfig, "PUBLIC_URL" | "PORT">): string =>
  PUBLIC_URL ?? `http://localhost:${PORT}`;

/** Returns different ports of this host that are free at the moment. */
async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
