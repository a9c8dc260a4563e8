import { randomBytes } from "node:crypto";
import { freePort } from "@brand-records/postgres/embedded";
import { startProcess, type ServiceProcess, type TestDatabase } from "@brand-records/testkit";
import { makersOf } from "./stack/brands.ts";
import { connectClients, reconnected } from "./stack/clients.ts";
import { createStackDatabase } from "./stack/database.ts";
import { StackGateways } from "./stack/gateways.ts";
import { ofEachService, type ProcessName, type ServiceName, type StackOptions } from "./stack/options.ts";
import { endProcess, type StartOwned } from "./stack/processes.ts";
import { startServices, type StackServices } from "./stack/services.ts";
import { settingsOf } from "./stack/settings.ts";
import type { SharedStack } from "./stack/shared.ts";

export type { Secret, TestBrand } from "./stack/brands.ts";
export { callContext } from "./stack/clients.ts";
export type { Console, Gateway } from "./stack/gateways.ts";
export { startOnSharedServices, type SharedStack } from "./stack/shared.ts";
export type { ProcessName, ServiceName, StackOptions } from "./stack/options.ts";

/** The compiled processes on a database of their own, without a brand. */
export interface Stack extends Omit<SharedStack, "addresses" | "outputs">, Omit<StackServices, "start"> {
  /** The event log's topic, which no other stack uses. */
  readonly topic: string;
  /** Starts one more process of a service. The caller must end it. */
  startAnother(service: ServiceName): Promise<ServiceProcess>;
  /**
   * Starts an ended process again on its port; of gateways and consoles, the first. Resolves when the stack's clients have reconnected to
   * a service, and when a gateway or console is ready.
   */
  restart(name: ProcessName): Promise<void>;
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const database = options.database ?? (await createStackDatabase());
  const starting: Promise<ServiceProcess>[] = [];
  const startOwned: StartOwned = (process) => {
    const started = startProcess(process);
    starting.push(started);
    return started;
  };
  try {
    return await startOn(database, startOwned, options);
  } catch (error) {
    // The caller gets no stack to stop, and processes left running would load the machine until the end of the run.
    for (const started of await Promise.allSettled(starting)) if (started.status === "fulfilled") await started.value.kill("SIGKILL");
    await database.drop();
    throw error;
  }
}

async function startOn(database: TestDatabase, startOwned: StartOwned, options: StackOptions): Promise<Stack> {
  const { gateways: count = 1, hasConsole = false, replicas: hasReplicas = false, through = {} } = options;
  const topic = `test.${randomBytes(6).toString("hex")}`;
  const ports = await ofEachService(() => freePort());
  const settings = settingsOf({ databaseUrl: database.url, topic, ports }, options);
  const { start, ...services } = await startServices(startOwned, settings, ports, hasReplicas);
  const targets = await ofEachService(async (name) => {
    const startProxy = through[name];
    return startProxy === undefined ? services.addresses[name] : `127.0.0.1:${await startProxy(ports[name])}`;
  });
  const gateways = await StackGateways.start(startOwned, { settings, targets }, count, hasConsole);
  const clients = connectClients(services.addresses);
  return {
    ...clients,
    ...services,
    gateways: gateways.all,
    url: gateways.all[0].url,
    databaseUrl: database.url,
    topic,
    startAnother: (service) => start(service),
    async restart(name) {
      if (name === "gateway") return gateways.restartGateway();
      if (name === "console") return gateways.restartConsole();
      services.processes[name] = await start(name, ports[name]);
      await reconnected(clients, name);
    },
    ...makersOf(clients),
    get: (path, key, gateway = 0) => fetch(`${gateways.all[gateway]?.url}${path}`, { headers: { authorization: `Bearer ${key}` } }),
    async stop() {
      for (const client of Object.values(clients)) client.stop();
      const { processes, replicas } = services;
      await Promise.all([...gateways.processes, ...Object.values(processes), ...Object.values(replicas ?? {})].map(endProcess));
      await database.drop();
    },
  };
}
