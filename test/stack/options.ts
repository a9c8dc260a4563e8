import type { TestDatabase } from "@brand-records/testkit";

export const SERVICE_NAMES = ["accounts", "plans", "records", "webhook"] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];
export type ProcessName = ServiceName | "console" | "gateway";

export type Env = Readonly<Record<string, string>>;

export interface StackOptions {
  /** Dropped by `stop`. Default: a migrated one on the server that all tests share. */
  readonly database?: TestDatabase;
  /** Starts two processes of each service; the gateways balance their calls between them. */
  readonly replicas?: boolean;
  /** How many gateways share the services. Default: 1. */
  readonly gateways?: number;
  /** Starts a console behind each gateway. Default: none. */
  readonly hasConsole?: boolean;
  /** Holds limits and cached principals. Default: none, so that each process holds its own. */
  readonly redisUrl?: string;
  /** Brokers of the event log. Default: none, so that records sends its events to webhook directly. */
  readonly kafkaBrokers?: string;
  readonly env?: Env;
  /** Settings of one service, of the consoles or of the gateways, read at each start. They override `env`. */
  readonly envOf?: Partial<Record<ProcessName, Env>>;
  /** Puts a proxy between gateways with their consoles and a service: takes the service's port and returns the port to call instead. */
  readonly through?: Partial<Record<ServiceName, (port: number) => Promise<number>>>;
}

export async function ofEachService<Value>(make: (name: ServiceName) => Value | Promise<Value>): Promise<Record<ServiceName, Value>> {
  const entries = SERVICE_NAMES.map(async (name) => [name, await make(name)] as const);
  return Object.fromEntries(await Promise.all(entries)) as Record<ServiceName, Value>;
}
