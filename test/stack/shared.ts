import { startProcess, type ServiceProcess } from "@brand-records/testkit";
import { makersOf, type TestMakers } from "./brands.ts";
import { connectClients, type StackClients } from "./clients.ts";
import { StackGateways, type Gateway } from "./gateways.ts";
import type { Env, ServiceName } from "./options.ts";
import { endProcess } from "./processes.ts";
import { settingsOf } from "./settings.ts";

/** What the process that runs the shared services says of them. */
export interface SharedServices {
  readonly databaseUrl: string;
  /** gRPC targets. */
  readonly addresses: Readonly<Record<ServiceName, string>>;
  /** All that each has written. */
  readonly outputs: Readonly<Record<ServiceName, string>>;
}

/** Gateways of this file before the services that files share. */
export interface SharedStack extends StackClients, TestMakers {
  readonly gateways: readonly [Gateway, ...Gateway[]];
  /** The first gateway's. */
  readonly url: string;
  readonly databaseUrl: string;
  /** gRPC targets. */
  readonly addresses: Readonly<Record<ServiceName, string>>;
  /** Sends a GET with a key. Default: to the first gateway. */
  get(path: string, key: string, gateway?: number): Promise<Response>;
  stop(): Promise<void>;
  outputs(): Promise<SharedServices["outputs"]>;
}

/**
 * Starts gateways before services that other test files use, too: for files that restart nothing, use brands of their own, and need no
 * settings of a service. That takes a fifth of a stack's CPU.
 *
 * @param env settings of the gateways
 * @param count how many gateways
 * @param others gRPC targets in place of the shared services
 */
export async function startOnSharedServices(
  env: Env = {},
  count = 1,
  others: Partial<Record<ServiceName, string>> = {},
): Promise<SharedStack> {
  const { databaseUrl, addresses } = await describeServices();
  const owned: ServiceProcess[] = [];
  const gateways = await StackGateways.start(
    async (options) => {
      const process = await startProcess(options);
      owned.push(process);
      return process;
    },
    {
      settings: settingsOf({ databaseUrl, topic: "", ports: NO_PORTS }, { env, redisUrl: process.env["TEST_REDIS_URL"] ?? "" }),
      targets: { ...addresses, ...others },
    },
    count,
    false,
  );
  const clients = connectClients(addresses);
  return {
    ...clients,
    addresses,
    gateways: gateways.all,
    url: gateways.all[0].url,
    databaseUrl,
    ...makersOf(clients),
    get: (path, key, gateway = 0) => fetch(`${gateways.all[gateway]?.url}${path}`, { headers: { authorization: `Bearer ${key}` } }),
    outputs: async () => (await describeServices()).outputs,
    async stop() {
      for (const client of Object.values(clients)) client.stop();
      await Promise.all(owned.map(endProcess));
    },
  };
}

const NO_PORTS = { accounts: 0, plans: 0, records: 0, webhook: 0 };

async function describeServices(): Promise<SharedServices> {
  const response = await fetch(process.env["TEST_SERVICES_URL"] ?? "");
  if (!response.ok) throw new Error(`the shared services do not run: ${await response.text()}`);
  return (await response.json()) as SharedServices;
}
