import type { ServiceProcess } from "@brand-records/testkit";
import { ofEachService, type ServiceName } from "./options.ts";
import { portOf, type StartOwned } from "./processes.ts";
import type { StackSettings } from "./settings.ts";
import { scriptOf } from "../program-script.ts";

/** The processes of the services. */
export interface StackServices {
  readonly processes: Record<ServiceName, ServiceProcess>;
  readonly replicas: Record<ServiceName, ServiceProcess> | undefined;
  /** gRPC targets. */
  readonly addresses: Record<ServiceName, string>;
  /** Starts a process of a service. Default: on any port. */
  start(name: ServiceName, rpcPort?: number): Promise<ServiceProcess>;
}

/** Starts a process of each service on its port, and as many beside them if there are to be replicas. */
export async function startServices(
  startOwned: StartOwned,
  settings: StackSettings,
  ports: Record<ServiceName, number>,
  hasReplicas: boolean,
): Promise<StackServices> {
  const start = (name: ServiceName, rpcPort = 0): Promise<ServiceProcess> =>
    startOwned({
      name,
      script: scriptOf(name),
      env: { ...settings(name), RPC_PORT: String(rpcPort) },
    });
  const [processes, replicas] = await Promise.all([
    ofEachService((name) => start(name, ports[name])),
    hasReplicas ? ofEachService((name) => start(name)) : undefined,
  ]);
  const addresses = await ofEachService((name) =>
    replicas === undefined ? `127.0.0.1:${ports[name]}` : `ipv4:127.0.0.1:${ports[name]},127.0.0.1:${portOf(replicas[name], "rpc_port")}`,
  );
  return { processes, replicas, addresses, start };
}
