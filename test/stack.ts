import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { AppError } from "@brand-records/errors";
import {
  AccountsServiceService,
  AuditServiceService,
  SessionsServiceService,
  SignInServiceService,
} from "@brand-records/proto/accounts/v1";
import { PlansServiceService } from "@brand-records/proto/plans/v1";
import { ImportServiceService, RecordsServiceService } from "@brand-records/proto/records/v1";
import { DeliveriesServiceService, EventsServiceService, ReceiversServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc, newCallContext, type CallContext, type RpcClient } from "@brand-records/rpc";
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

/** The repository's root, where jest runs. */
const ROOT = process.cwd();

const SERVICE_NAMES = ["accounts", "plans", "records", "webhook"] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];
export type ProcessName = ServiceName | "console" | "gateway";

export interface StackOptions {
  /** Dropped by `stop`. Default: an empty one on the server that all tests share. */
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
  readonly env?: Readonly<Record<string, string>>;
  /** Settings of one service, of the consoles or of the gateways. They override `env`. */
  readonly envOf?: Partial<Record<ProcessName, Readonly<Record<string, string>>>>;
  /** Puts a proxy between the gateways and a service: takes the service's port and returns the port to call instead. */
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
  /** The current one, after `restart`. */
  readonly process: ServiceProcess;
  /** The console of this gateway, if the stack has consoles. */
  readonly console: Console | undefined;
}

export interface Console {
  /** The URL of its pages, on the gateway. */
  readonly url: string;
  /** The current one, after `restart`. */
  readonly process: ServiceProcess;
}

/** The compiled processes on their own, initially empty database. */
export interface Stack {
  readonly gateways: readonly [Gateway, ...Gateway[]];
  /** The first gateway's. */
  readonly url: string;
  readonly accounts: RpcClient<AccountsServiceService>;
  readonly signIn: RpcClient<SignInServiceService>;
  readonly sessions: RpcClient<SessionsServiceService>;
  readonly audit: RpcClient<AuditServiceService>;
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
  /** The event log's topic, which no other stack uses. */
  readonly topic: string;
  /** Starts one more process of a service. The caller must end it. */
  startAnother(service: ServiceName): Promise<ServiceProcess>;
  /** The second process of each service; undefined without `StackOptions.replicas`. */
  readonly replicas: Record<ServiceName, ServiceProcess> | undefined;
  /**
   * Starts an ended process again on its port; of gateways and consoles, the first. Resolves when the stack's clients have reconnected to
   * a service, and when a gateway or console is ready.
   */
  restart(name: ProcessName): Promise<void>;
  createBrand(options?: { tier?: string; environment?: string; permissions?: string[] }): Promise<TestBrand>;
  /** Sends a GET with a key. Default: to the first gateway. */
  get(path: string, key: string, gateway?: number): Promise<Response>;
  stop(): Promise<void>;
}

/** A refusal shows that a call has arrived. @throws the error of one that has not */
function requireRefused(error: unknown): void {
  if (!(error instanceof AppError) || error.kind !== "invalid_request") throw error;
}

export const callContext = (timeoutMs = 10_000): CallContext => newCallContext(timeoutMs, "test");

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const database = options.database ?? (await createDatabase("empty"));
  const starting: Promise<ServiceProcess>[] = [];
  const startOwned = (process: ProcessOptions): Promise<ServiceProcess> => {
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

async function startOn(
  database: TestDatabase,
  startOwned: typeof startProcess,
  {
    gateways = 1,
    hasConsole = false,
    replicas: hasReplicas = false,
    redisUrl,
    kafkaBrokers,
    env = {},
    envOf = {},
    through = {},
  }: StackOptions,
): Promise<Stack> {
  const redisEnv: Record<string, string> = redisUrl === undefined ? {} : { REDIS_URL: redisUrl };
  // Longer than in production: here Redis shares two cores with a dozen processes.
  const common = { STOP_GRACE_MS: "0", LOG_LEVEL: "debug", REDIS_URL: "", REDIS_COMMAND_TIMEOUT_MS: "500", ...redisEnv, ...env };
  const topic = `test.${randomBytes(6).toString("hex")}`;
  const eventLog: Record<string, string> = kafkaBrokers === undefined ? {} : { KAFKA_BROKERS: kafkaBrokers, KAFKA_TOPIC: topic };
  // Records and webhook need each other's addresses before either runs.
  const ports = Object.fromEntries(await Promise.all(SERVICE_NAMES.map(async (name) => [name, await freePort()]))) as Record<
    ServiceName,
    number
  >;
  const serviceEnv = {
    accounts: { ...common, DATABASE_URL: database.url, KEY_PEPPERS: `1:${randomBytes(32).toString("base64")}` },
    plans: { ...common, DATABASE_URL: database.url, ACCOUNTS_ADDRESS: `127.0.0.1:${ports.accounts}` },
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
  const [processes, replicas] = await Promise.all([startAll((name) => ports[name]), hasReplicas ? startAll(() => 0) : undefined]);
  const addressOf = (name: ServiceName): string =>
    replicas === undefined ? `127.0.0.1:${ports[name]}` : `ipv4:127.0.0.1:${ports[name]},127.0.0.1:${portOf(replicas[name], "rpc_port")}`;
  const addresses = Object.fromEntries(SERVICE_NAMES.map((name) => [name, addressOf(name)])) as Record<ServiceName, string>;

  const gatewayTarget = async (name: ServiceName): Promise<string> => {
    const startProxy = through[name];
    return startProxy === undefined ? addresses[name] : `127.0.0.1:${await startProxy(ports[name])}`;
  };

  const targets = {
    accounts: await gatewayTarget("accounts"),
    plans: await gatewayTarget("plans"),
    records: await gatewayTarget("records"),
  };

  const runConsole = (url: string, port: number): Promise<ServiceProcess> =>
    startOwned({
      name: "console",
      script: join(ROOT, "console/server/dist/main.js"),
      env: {
        ...common,
        ...envOf.console,
        PORT: String(port),
        PUBLIC_URL: url,
        ACCOUNTS_ADDRESS: targets.accounts,
        PLANS_ADDRESS: targets.plans,
        WEBHOOK_ADDRESS: addresses.webhook,
      },
    });

  const runGateway = (console: Console | undefined, port: number): Promise<ServiceProcess> =>
    startOwned({
      name: "gateway",
      script: join(ROOT, "gateway/dist/main.js"),
      env: {
        ...common,
        ...envOf.gateway,
        HOST: "127.0.0.1",
        PORT: String(port),
        ...(console && { CONSOLE_ADDRESS: `127.0.0.1:${portOf(console.process, "port")}`, PUBLIC_URL: console.url }),
        ACCOUNTS_ADDRESS: targets.accounts,
        PLANS_ADDRESS: targets.plans,
        RECORDS_ADDRESS: targets.records,
      },
    });

  const startGateway = async (): Promise<ReplaceableGateway> => {
    // The console must know where its pages are before the gateway listens there.
    const port = hasConsole ? await freePort() : 0;
    const consoleUrl = `http://localhost:${port}`;
    const console = hasConsole ? { url: consoleUrl, process: await runConsole(consoleUrl, 0) } : undefined;
    const process = await runGateway(console, port);
    return { url: `http://127.0.0.1:${portOf(process, "port")}`, process, console };
  };
  const running = (await Promise.all(Array.from({ length: gateways }, startGateway))) as [ReplaceableGateway, ...ReplaceableGateway[]];

  const restartService = async (service: ServiceName): Promise<void> => {
    processes[service] = await start(service, ports[service]);
    // The test's own clients reconnect after a pause: over one connection for calls that are repeated, and one for the others.
    const probes: Record<ServiceName, () => Promise<unknown>> = {
      accounts: () => accounts.listBrands({ page_size: 1, after_id: null }, callContext()),
      plans: () => plans.listPlans({ brand_id: "brd_none", status: null, page_size: 1, after_id: null }, callContext()),
      records: () => records.listLinks({ brand_id: "brd_none", limit: 1, cursor: null, since: null }, callContext()),
      webhook: () => receivers.listReceivers({ brand_id: "brd_none" }, callContext()),
    };
    await eventually(probes[service]);
    const notRepeated: Partial<Record<ServiceName, () => Promise<unknown>>> = {
      accounts: () => accounts.createBrand({ name: "", tier: "", verified: false }, callContext()),
      webhook: () => receivers.createReceiver({ brand_id: "brd_none", url: "", label: "", events: [] }, callContext()),
    };
    await eventually(() => notRepeated[service]?.().catch(requireRefused));
  };

  const accounts = connectRpc(AccountsServiceService, addresses.accounts);
  const signIn = connectRpc(SignInServiceService, addresses.accounts);
  const sessions = connectRpc(SessionsServiceService, addresses.accounts);
  const audit = connectRpc(AuditServiceService, addresses.accounts);
  const plans = connectRpc(PlansServiceService, addresses.plans);
  const records = connectRpc(RecordsServiceService, addresses.records);
  const importing = connectRpc(ImportServiceService, addresses.records);
  const receivers = connectRpc(ReceiversServiceService, addresses.webhook);
  const events = connectRpc(EventsServiceService, addresses.webhook);
  const deliveries = connectRpc(DeliveriesServiceService, addresses.webhook);

  return {
    gateways: running,
    url: running[0].url,
    accounts,
    signIn,
    sessions,
    audit,
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
    async restart(name) {
      const [first] = running;
      if (name === "gateway") {
        first.process = await runGateway(first.console, portOf(first.process, "port"));
      } else if (name === "console") {
        if (first.console === undefined) throw new Error("the stack has no console: set hasConsole");
        first.console.process = await runConsole(first.console.url, portOf(first.console.process, "port"));
      } else {
        await restartService(name);
      }
    },
    createBrand: (options) => createBrand(accounts, options),
    get: (path, key, gateway = 0) => fetch(`${running[gateway]?.url}${path}`, { headers: { authorization: `Bearer ${key}` } }),
    async stop() {
      for (const client of [accounts, signIn, sessions, audit, plans, records, importing, receivers, events, deliveries]) client.stop();
      await Promise.all(
        [
          ...running.flatMap(({ process, console }) => [process, ...(console ? [console.process] : [])]),
          ...Object.values(processes),
          ...Object.values(replicas ?? {}),
        ].map(endProcess),
      );
      await database.drop();
    },
  };
}

/** A gateway whose processes a restart replaces. */
interface ReplaceableGateway extends Gateway {
  process: ServiceProcess;
  console: { readonly url: string; process: ServiceProcess } | undefined;
}

/** Ends a process that may be frozen (it handles SIGTERM only once thawed) or already killed. */
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
  if (typeof port !== "number") throw new Error(`the process did not report its ${name}: ${JSON.stringify(process.ready)}`);
  return port;
}
