import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import { PlansServiceService } from "@brand-records/proto/plans/v1";
import { ImportServiceService, RecordsServiceService } from "@brand-records/proto/records/v1";
import { DeliveriesServiceService, EventsServiceService, ReceiversServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc, traceparentFrom, type CallContext, type RpcClient } from "@brand-records/rpc";
import { freePort } from "@brand-records/postgres/embedded";
import {
  createDatabase,
  eventually,
  startProcess,
  type ProcessOptions,
  type ServiceProcess,
  type TestDatabase,
} from "@brand-records/testkit";
import { newId } from "@brand-records/typeid";

/** The repository's root: jest runs there. */
const ROOT = process.cwd();

const SERVICE_NAMES = ["accounts", "plans", "records", "webhook"] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

export interface StackOptions {
  /** A second process of each service, between which the gateways share their calls. */
  readonly replicas?: boolean;
  /** Processes of the gateway that share everything; 1 unless given. */
  readonly gateways?: number;
  /** Shared limits and cached principals; without it everything is in process. */
  readonly redisUrl?: string;
  /** Brokers of the event log; without it records hands its events to webhook directly. */
  readonly kafkaBrokers?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Settings of one service, over those of all. */
  readonly envOf?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
  /** Puts something between the gateways and a service: given the service's port, answers the port to call instead. */
  readonly through?: Partial<Record<ServiceName, (port: number) => Promise<number>>>;
}

export interface TestBrand {
  readonly id: string;
  readonly owner: string;
  /** A live reporting key. */
  readonly key: string;
  readonly keyId: string;
}

export interface Gateway {
  readonly url: string;
  /** Metrics and probes. */
  readonly adminUrl: string;
  readonly process: ServiceProcess;
}

/** The real processes, compiled, on an empty database of their own. */
export interface Stack {
  readonly gateways: readonly [Gateway, ...Gateway[]];
  /** The first gateway's. */
  readonly url: string;
  readonly accounts: RpcClient<AccountsServiceService>;
  readonly plans: RpcClient<PlansServiceService>;
  readonly records: RpcClient<RecordsServiceService>;
  readonly importing: RpcClient<ImportServiceService>;
  readonly receivers: RpcClient<ReceiversServiceService>;
  readonly events: RpcClient<EventsServiceService>;
  readonly deliveries: RpcClient<DeliveriesServiceService>;
  readonly databaseUrl: string;
  readonly processes: Record<ServiceName, ServiceProcess>;
  /** gRPC targets. */
  readonly addresses: Record<ServiceName, string>;
  /** The event log's topic, this stack's own. */
  readonly topic: string;
  /** One more process of a service, which the caller ends. */
  startAnother(service: ServiceName): Promise<ServiceProcess>;
  /** The second process of each service, if there is one. */
  readonly replicas: Record<ServiceName, ServiceProcess> | undefined;
  /** Starts a service that was ended, on the port it had; the stack's clients have found it when this resolves. */
  restart(service: ServiceName): Promise<void>;
  createBrand(options?: { tier?: string; environment?: string; permissions?: string[] }): Promise<TestBrand>;
  /** GET with a key, at the first gateway unless told otherwise. */
  get(path: string, key: string, gateway?: number): Promise<Response>;
  stop(): Promise<void>;
}

export const callContext = (withinMs = 10_000): CallContext => ({
  requestId: "test",
  traceparent: traceparentFrom(undefined),
  deadline: Date.now() + withinMs,
});

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const database = await createDatabase("empty");
  const starting: Promise<ServiceProcess>[] = [];
  const startOwned = (process: ProcessOptions): Promise<ServiceProcess> => {
    const started = startProcess(process);
    starting.push(started);
    return started;
  };
  try {
    return await startOn(database, startOwned, options);
  } catch (error) {
    // A test that gets no stack cannot stop one: its processes would load the machine until the end of the run.
    for (const started of await Promise.allSettled(starting)) if (started.status === "fulfilled") await started.value.kill("SIGKILL");
    await database.drop();
    throw error;
  }
}

async function startOn(
  database: TestDatabase,
  startOwned: typeof startProcess,
  { gateways = 1, replicas: replicated = false, redisUrl, kafkaBrokers, env = {}, envOf = {}, through = {} }: StackOptions,
): Promise<Stack> {
  const redisEnv: Record<string, string> = redisUrl === undefined ? {} : { REDIS_URL: redisUrl };
  // Two cores shared by a dozen processes let Redis wait for longer than a production machine ever should.
  const common = { STOP_GRACE_MS: "0", LOG_LEVEL: "debug", REDIS_URL: "", REDIS_COMMAND_TIMEOUT_MS: "500", ...redisEnv, ...env };
  const topic = `test.${randomBytes(6).toString("hex")}`;
  const eventLog: Record<string, string> = kafkaBrokers === undefined ? {} : { KAFKA_BROKERS: kafkaBrokers, KAFKA_TOPIC: topic };
  // Records and webhook know of each other before either runs.
  const ports = Object.fromEntries(await Promise.all(SERVICE_NAMES.map(async (name) => [name, await freePort()]))) as Record<
    ServiceName,
    number
  >;
  const serviceEnv = {
    accounts: { ...common, DATABASE_URL: database.url, KEY_PEPPERS: `1:${randomBytes(32).toString("base64")}` },
    plans: { ...common, DATABASE_URL: database.url },
    records: { ...common, ...eventLog, DATABASE_URL: database.url, WEBHOOK_ADDRESS: `127.0.0.1:${ports.webhook}` },
    webhook: {
      ...common,
      ...eventLog,
      DATABASE_URL: database.url,
      ACCOUNTS_ADDRESS: `127.0.0.1:${ports.accounts}`,
      RECEIVER_SECRET_KEYS: `1:${randomBytes(32).toString("base64")}`,
    },
  };
  const start = (name: ServiceName, rpcPort = 0): Promise<ServiceProcess> =>
    startOwned({
      name,
      script: join(ROOT, "services", name, "dist/main.js"),
      env: { ...serviceEnv[name], ...envOf[name], RPC_PORT: String(rpcPort) },
    });

  const startAll = async (portOfService: (name: ServiceName) => number): Promise<Record<ServiceName, ServiceProcess>> =>
    Object.fromEntries(await Promise.all(SERVICE_NAMES.map(async (name) => [name, await start(name, portOfService(name))]))) as Record<
      ServiceName,
      ServiceProcess
    >;
  const [processes, replicas] = await Promise.all([startAll((name) => ports[name]), replicated ? startAll(() => 0) : undefined]);
  const addressOf = (name: ServiceName): string =>
    replicas === undefined ? `127.0.0.1:${ports[name]}` : `ipv4:127.0.0.1:${ports[name]},127.0.0.1:${portOf(replicas[name], "rpc_port")}`;
  const addresses = Object.fromEntries(SERVICE_NAMES.map((name) => [name, addressOf(name)])) as Record<ServiceName, string>;

  const calledAt = async (name: ServiceName): Promise<string> => {
    const detour = through[name];
    return detour === undefined ? addresses[name] : `127.0.0.1:${await detour(ports[name])}`;
  };
  const called = { accounts: await calledAt("accounts"), plans: await calledAt("plans"), records: await calledAt("records") };

  const startGateway = async (): Promise<Gateway> => {
    const process = await startOwned({
      name: "gateway",
      script: join(ROOT, "gateway/dist/main.js"),
      env: {
        ...common,
        HOST: "127.0.0.1",
        PORT: "0",
        ACCOUNTS_ADDRESS: called.accounts,
        PLANS_ADDRESS: called.plans,
        RECORDS_ADDRESS: called.records,
      },
    });
    return { url: `http://127.0.0.1:${portOf(process, "port")}`, adminUrl: `http://127.0.0.1:${portOf(process, "admin_port")}`, process };
  };
  const running = (await Promise.all(Array.from({ length: gateways }, startGateway))) as [Gateway, ...Gateway[]];

  const accounts = connectRpc(AccountsServiceService, addresses.accounts, { idempotent: [] });
  const plans = connectRpc(PlansServiceService, addresses.plans, { idempotent: [] });
  const records = connectRpc(RecordsServiceService, addresses.records, { idempotent: [] });
  const importing = connectRpc(ImportServiceService, addresses.records, { idempotent: [] });
  const receivers = connectRpc(ReceiversServiceService, addresses.webhook, { idempotent: [] });
  const events = connectRpc(EventsServiceService, addresses.webhook, { idempotent: [] });
  const deliveries = connectRpc(DeliveriesServiceService, addresses.webhook, { idempotent: [] });

  return {
    gateways: running,
    url: running[0].url,
    accounts,
    plans,
    records,
    importing,
    receivers,
    events,
    deliveries,
    addresses,
    topic,
    startAnother: (service) => start(service),
    databaseUrl: database.url,
    processes,
    replicas,
    async restart(service) {
      processes[service] = await start(service, ports[service]);
      // The test's own clients connect again after a pause.
      const probes: Record<ServiceName, () => Promise<unknown>> = {
        accounts: () => accounts.listBrands({ page_size: 1, after_id: null }, callContext()),
        plans: () => plans.listPlans({ brand_id: "brd_none", status: null, page_size: 1, after_id: null }, callContext()),
        records: () => records.listLinks({ brand_id: "brd_none", limit: 1, cursor: null, since: null }, callContext()),
        webhook: () => receivers.listReceivers({ brand_id: "brd_none" }, callContext()),
      };
      await eventually(probes[service]);
    },
    createBrand: (options) => createBrand(accounts, options),
    get: (path, key, gateway = 0) => fetch(`${running[gateway]?.url}${path}`, { headers: { authorization: `Bearer ${key}` } }),
    async stop() {
      for (const client of [accounts, plans, records, importing, receivers, events, deliveries]) client.stop();
      await Promise.all(
        [...running.map((gateway) => gateway.process), ...Object.values(processes), ...Object.values(replicas ?? {})].map(endProcess),
      );
      await database.drop();
    },
  };
}

/** Also one that a test has frozen: it cannot hear SIGTERM before it is thawed. Or killed: then there is nobody to signal. */
async function endProcess(service: ServiceProcess): Promise<void> {
  const ended = service.kill("SIGTERM");
  try {
    process.kill(service.pid, "SIGCONT");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
  await ended;
}

async function createBrand(
  accounts: Stack["accounts"],
  { tier = "plus", environment = "live", permissions = [] }: { tier?: string; environment?: string; permissions?: string[] } = {},
): Promise<TestBrand> {
  const id = newId("brd");
  const owner = `owner@${id.slice(4)}.example`;
  await accounts.createBrand({ id, name: `Brand ${id}`, tier, verified: true }, callContext());
  await accounts.addMember({ brand_id: id, email: owner, role: "owner" }, callContext());
  const created = await accounts.createKey({ brand_id: id, name: "Test", environment, permissions, created_by: owner }, callContext());
  return { id, owner, key: created.secret, keyId: created.key?.id ?? "" };
}

function portOf(process: ServiceProcess, name: string): number {
  const port = (process.ready as Record<string, unknown>)[name];
  if (typeof port !== "number") throw new Error(`the process did not tell its ${name}: ${JSON.stringify(process.ready)}`);
  return port;
}
