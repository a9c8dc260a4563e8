import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { newId } from "@brand-records/ids";
import { Lifecycle } from "@brand-records/lifecycle";
import { migrate, openPool, type Database } from "@brand-records/postgres";
import * as Accounts from "@brand-records/proto/accounts/v1";
import * as Plans from "@brand-records/proto/plans/v1";
import * as Records from "@brand-records/proto/records/v1";
import * as Webhook from "@brand-records/proto/webhook/v1";
import { connectRpc, newCallContext, service, type CallContext, type RpcClient, type ServedService } from "@brand-records/rpc";
import { openLog } from "@brand-records/telemetry";
import { createDatabase } from "@brand-records/testkit";
import { parseConfig as parseAccounts } from "../../services/accounts/src/config.ts";
import { startAccounts } from "../../services/accounts/src/start.ts";
import { parseConfig as parsePlans } from "../../services/plans/src/config.ts";
import { startPlans } from "../../services/plans/src/start.ts";
import { parseConfig as parseRecords } from "../../services/records/src/config.ts";
import { startRecords } from "../../services/records/src/start.ts";
import { parseConfig as parseWebhook } from "../../services/webhook/src/config.ts";
import { startWebhook } from "../../services/webhook/src/start.ts";
import { serve, type Served } from "./serve.ts";
import { brandctl, type Outcome, type Surroundings } from "./test-terminal.ts";

/** What brandctl calls of each service, but for imports, which are streams. Each OperatorService is of a package of its own. */
const CALLED = {
  accounts: [
    Accounts.AccountsServiceService,
    Accounts.AuditServiceService,
    Accounts.OperatorServiceService,
    Accounts.SignInServiceService,
    Accounts.UsageServiceService,
  ],
  plans: [Plans.PlansServiceService, Plans.OperatorServiceService],
  records: [Records.OperatorServiceService],
  webhook: [
    Webhook.ReceiversServiceService,
    Webhook.DeliveriesServiceService,
    Webhook.EventsServiceService,
    Webhook.OperatorServiceService,
  ],
} as const;

type ServiceName = keyof typeof CALLED;
// The messages of a hundred methods: each test knows those of its own.
// oxlint-disable-next-line typescript/no-explicit-any
type Message = any;
/** Answers a call. @param forward makes it at the real service */
export type Intercept = (request: Message, forward: (request?: Message) => Promise<Message>, context: CallContext) => Promise<Message>;

/** The real services in the test's process, on a database of their own, and brandctl in front of them. */
export interface Product {
  /** Addresses at which every call reaches its service, unless the test intercepts it. */
  readonly env: Readonly<Record<`${"ACCOUNTS" | "PLANS" | "RECORDS" | "WEBHOOK"}_ADDRESS`, string>>;
  /** The address of records itself: imports are streams, which are not forwarded. */
  readonly recordsAddress: string;
  readonly databaseUrl: string;
  readonly db: Database;
  readonly accounts: RpcClient<typeof Accounts.AccountsServiceService>;
  readonly receivers: RpcClient<typeof Webhook.ReceiversServiceService>;
  readonly plans: RpcClient<typeof Plans.PlansServiceService>;
  /** By `service.method`, such as `accounts.setBrandTier`. Each test begins without any. */
  readonly intercepts: Map<string, Intercept>;
  /** Answers the next call of a method with an error. */
  failNext(method: string, error: Error): void;
  /** Runs a line, of words between single blanks, or its words. */
  run(line: string | readonly string[], surroundings?: Surroundings): Promise<Outcome>;
  /** A verified brand on Plus with one owner, `zoe@<its id>.example`. */
  createBrand(): Promise<TestBrand>;
}

export interface TestBrand {
  readonly id: string;
  readonly owner: string;
}

/** Adds a plan to a brand, with the columns given, in the form that Postgres reads. */
export async function addPlan(db: Database, brandId: string, columns: Readonly<Record<string, string | null>> = {}): Promise<string> {
  const row: Record<string, string | null> = {
    brand_id: brandId,
    id: newId("pln"),
    request_id: randomUUID(),
    input: "{}",
    title: "Pasko 2026",
    goal: "Reach",
    campaign_type: "ugc",
    planned_for: "2026-12-01",
    review_on: "2026-12-15",
    planning_budget_centavos: "15000050",
    created_at: "2026-11-21T08:30:00Z",
    updated_at: "2026-11-21T08:30:00Z",
    ...columns,
  };
  const names = Object.keys(row);
  await db.query("insert into plans.brand_locks (brand_id) values ($1) on conflict do nothing", [brandId]);
  await db.query(
    `insert into plans.plans (${names.join(", ")}) values (${names.map((_, at) => `$${at + 1}`).join(", ")})`,
    Object.values(row),
  );
  return row["id"] ?? "";
}

export const context = (): CallContext => newCallContext(30_000, "test");

/** Starts the services for the tests of a file. @param webhookSettings beside those that every webhook needs */
export function startProduct(webhookSettings: NodeJS.ProcessEnv = {}): Product {
  const life = new Lifecycle(openLog("test", "silent"));
  const product: Partial<{ -readonly [Name in keyof Product]: Product[Name] }> = { intercepts: new Map(), failNext, run, createBrand };
  beforeAll(async () => {
    const database = await createDatabase("migrated", async (url) => {
      for (const schema of Object.keys(CALLED)) await migrate({ url, schema, directory: join("services", schema, "migrations") });
    });
    life.own("database", { stop: () => database.drop() });
    const db = life.own("test pool", openPool({ url: database.url, applicationName: "brandctl test" }));
    const addresses = await startServices(database.url, life, webhookSettings);
    const { address } = life.own("forwarding", await forward(addresses, product.intercepts as Map<string, Intercept>, life));
    Object.assign(product, {
      db,
      env: { ACCOUNTS_ADDRESS: address, PLANS_ADDRESS: address, WEBHOOK_ADDRESS: address, RECORDS_ADDRESS: address },
      recordsAddress: addresses.records,
      databaseUrl: database.url,
      accounts: life.own("accounts client", connectRpc(Accounts.AccountsServiceService, addresses.accounts)),
      receivers: life.own("receivers client", connectRpc(Webhook.ReceiversServiceService, addresses.webhook)),
      plans: life.own("plans client", connectRpc(Plans.PlansServiceService, addresses.plans)),
    });
  });
  beforeEach(() => product.intercepts?.clear());
  afterAll(() => life.stop());
  const started = product as Product;

  function failNext(method: string, error: Error): void {
    started.intercepts.set(method, () => {
      started.intercepts.delete(method);
      return Promise.reject(error);
    });
  }
  function run(line: string | readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
    const words = typeof line === "string" ? line.split(" ") : line;
    return brandctl(words, { ...surroundings, env: surroundings.env ?? started.env });
  }
  async function createBrand(): Promise<TestBrand> {
    const id = newId("brd");
    const owner = `zoe@${id.slice(4)}.example`;
    await started.accounts.createBrand({ id, name: "Ulap", tier: "plus", verified: true }, context());
    await started.accounts.addMember({ brand_id: id, email: owner, role: "owner" }, context());
    return { id, owner };
  }
  return started;
}

/** Deliveries to the names in tests fail at once, without a question to a network. */
const NO_DNS = "127.0.0.1:1";

async function startServices(
  DATABASE_URL: string,
  life: Lifecycle,
  webhookSettings: NodeJS.ProcessEnv,
): Promise<Record<ServiceName, string>> {
  const ports = { RPC_HOST: "127.0.0.1", RPC_PORT: "0", ADMIN_HOST: "127.0.0.1", ADMIN_PORT: "0" };
  const common = { DATABASE_URL, DATABASE_CONNECTIONS_MAX: "2", RPC_OPERATOR_WITHOUT_TLS: "true", ...ports };
  const log = openLog("test", "silent");
  const newKey = (): string => `1:${randomBytes(32).toString("base64")}`;
  const at = ({ rpc_port: port }: { readonly rpc_port: number }): string => `127.0.0.1:${port}`;
  const accounts = at(await startAccounts(parseAccounts({ ...common, KEY_PEPPERS: newKey() }), life, log));
  const calling = { ...common, ACCOUNTS_ADDRESS: accounts };
  const plans = at(await startPlans(parsePlans(calling), life, log));
  const webhook = at(
    await startWebhook(
      parseWebhook({ ...calling, RECEIVER_SECRET_KEYS: newKey(), RECEIVER_DNS_SERVERS: NO_DNS, ...webhookSettings }),
      life,
      log,
    ),
  );
  const records = at(await startRecords(parseRecords(common), life, log));
  life.markReady();
  return { accounts, plans, records, webhook };
}

type Client = Record<string, (request: Message, context: CallContext) => Promise<Message>>;

/** Serves what brandctl calls: each call is forwarded to its service, unless it is intercepted. */
function forward(addresses: Record<ServiceName, string>, intercepts: Map<string, Intercept>, life: Lifecycle): Promise<Served> {
  const served = Object.entries(CALLED).flatMap(([name, definitions]) =>
    definitions.map((definition): ServedService => {
      const client = life.own(`${name} client`, connectRpc(definition, addresses[name as ServiceName])) as unknown as Client;
      const handlers = Object.keys(definition).map((method) => {
        const call = client[method] as Client[string];
        const handler = (request: Message, context: CallContext): Promise<Message> => {
          const pass = (changed = request): Promise<Message> => call(changed, newCallContext(30_000, context.requestId));
          return intercepts.get(`${name}.${method}`)?.(request, pass, context) ?? pass();
        };
        return [method, handler] as const;
      });
      return service(definition, Object.fromEntries(handlers) as never);
    }),
  );
  return serve(...served);
}
