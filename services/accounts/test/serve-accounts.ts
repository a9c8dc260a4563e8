import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { AppError } from "@brand-records/errors";
import { migrate, openPool, type Database, type Sql } from "@brand-records/postgres";
import {
  AccountsServiceService,
  AuditServiceService,
  OperatorServiceService,
  SessionsServiceService,
  SignInServiceService,
  UsageServiceService,
  VerificationServiceService,
} from "@brand-records/proto/accounts/v1";
import { connectRpc, serveRpc, newCallContext, type CallContext, type RpcClient } from "@brand-records/rpc";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { createDatabase, eventually, testClient, type TestClient, type TestDatabase } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import type { AccountsDependencies } from "../src/dependencies.ts";
import type { Pepper } from "../src/domain/key.ts";
import { GrantKeys } from "../src/domain/grant-keys.ts";
import { noEpochPublisher } from "../src/epochs/epoch-publisher.ts";
import { openIdentify } from "../src/id-tokens/identify.ts";
import { accountsServices } from "../src/rpc/services.ts";
import { auditSink } from "../src/use-cases/audit.ts";
import { ownGrants } from "../src/use-cases/grants.ts";

const MIGRATIONS = join(import.meta.dirname, "../migrations");

export const pepper = (version: number): Pepper => ({ version, bytes: randomBytes(32) });

export const callContext = (withinMs = 20_000): CallContext => newCallContext(withinMs, "test");

export interface TestBrand {
  readonly id: string;
  readonly owner: string;
}

const SERVICES = {
  accounts: AccountsServiceService,
  verification: VerificationServiceService,
  operator: OperatorServiceService,
  signIn: SignInServiceService,
  sessions: SessionsServiceService,
  audit: AuditServiceService,
  usage: UsageServiceService,
};

/** The service over real gRPC, with its own database. */
export interface ServedAccounts extends Readonly<{ [Name in keyof typeof SERVICES]: TestClient<(typeof SERVICES)[Name]> }> {
  readonly db: Database;
  /** `host:port` */
  readonly address: string;
  /** Serves the same database with other dependencies; stops with this one. */
  alsoWith(overrides: Partial<AccountsDependencies>): Promise<ServedAccounts>;
  createBrand(options?: { tier?: string; verified?: boolean }): Promise<TestBrand>;
  /** Returns the key's id and the key itself. */
  createKey(
    brand: TestBrand,
    options?: { name?: string; environment?: string; permissions?: string[] },
  ): Promise<{ id: string; secret: string }>;
  epochOf(brand: TestBrand): Promise<number>;
  stop(): Promise<void>;
}

/** Serves accounts from before the tests of a file until after them. @param overrides are called before */
export function servedAccounts(overrides: () => Partial<AccountsDependencies> = () => ({})): ServedAccounts {
  const served = {} as ServedAccounts;
  beforeAll(async () => Object.assign(served, await serveAccounts(overrides())));
  afterAll(() => served.stop());
  return served;
}

/** Expects a call to be refused with an error of this kind, about this field. */
export const expectRefusal = (call: Promise<unknown>, kind: string, field?: string): Promise<void> =>
  expect(call).rejects.toMatchObject(field === undefined ? { kind } : { kind, field });

/** Expects every call to be refused with the same error of this kind, so that it reveals nothing. */
export async function expectSameRefusal(calls: readonly Promise<unknown>[], kind: string): Promise<void> {
  const accepted = (): unknown => "accepted";
  const refused = ({ kind: of, message, field, details }: AppError): unknown => ({ kind: of, message, field, details });
  const [first, ...others] = await Promise.all(calls.map((call) => call.then(accepted, refused)));
  expect(first).toMatchObject({ kind });
  expect(others).toEqual(others.map(() => first));
}

/** Waits for calls. Returns what those that succeed return, and the kinds of the others' errors. */
export async function settled<T>(calls: Iterable<Promise<T>>): Promise<{ done: T[]; refused: string[] }> {
  const outcomes = await Promise.allSettled(calls);
  return {
    done: outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : [])),
    refused: outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [(outcome.reason as AppError).kind] : [])),
  };
}

/** Runs something at another date. Timers stay real. */
export async function atDate<T>(now: number, work: () => Promise<T>): Promise<T> {
  const timers = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate", "clearImmediate"] as const;
  jest.useFakeTimers({ now, doNotFake: [...timers, "nextTick", "queueMicrotask", "performance", "hrtime"] });
  try {
    return await work();
  } finally {
    jest.useRealTimers();
  }
}

/** Makes a call in a transaction that has locked what the call needs, and goes on with the transaction when the call waits. */
export async function callBehind<T>(
  db: Database,
  lock: (sql: Sql) => Promise<unknown>,
  call: () => Promise<T>,
  goOn: (sql: Sql) => Promise<unknown>,
): Promise<{ done: T[]; refused: string[] }> {
  const { outcome } = await db.transaction(async (sql) => {
    await lock(sql);
    const calling = settled([call()]);
    await untilWaiting(db);
    await goOn(sql);
    return { outcome: calling };
  });
  return outcome;
}

/** Waits until a statement waits for a lock. */
export const untilWaiting = (db: Database): Promise<void> =>
  eventually(async () => {
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    expect(await db.query(waiting)).toHaveLength(1);
  });

export const createAccountsDatabase = (): Promise<TestDatabase> =>
  createDatabase("accounts_schema", async (url) => {
    await migrate({ url, schema: "accounts", directory: MIGRATIONS });
  });

export async function serveAccounts(overrides: Partial<AccountsDependencies> = {}): Promise<ServedAccounts> {
  const database = await createAccountsDatabase();
  const db = openPool({ url: database.url, applicationName: "accounts test" });
  const { peppers = [pepper(1)] } = overrides;
  const served = await serve({
    db,
    clock: Date,
    epochs: noEpochPublisher,
    peppers,
    grantKeys: new GrantKeys(peppers, Date.now),
    environment: "live",
    sessionLimits: { idleSeconds: 7_200, maxSeconds: 43_200 },
    limits: { keys: 200, members: 1_000 },
    usageKeepDays: 31,
    requestsKeepHours: 24,
    sendsMail: false,
    identify: openIdentify({ OIDC_TRUST_EMAIL: "false" }),
    log: openLog("accounts", "silent"),
    recordKeyUse: () => {},
    countSignIn: () => {},
    mayMissKeys: () => false,
    ...overrides,
  });
  return {
    ...served,
    async stop() {
      await served.stop();
      await db.stop();
      await database.drop();
    },
  };
}

async function serve(deps: AccountsDependencies): Promise<ServedAccounts> {
  const server = await serveRpc({
    config: { RPC_HOST: "127.0.0.1", RPC_PORT: 0, RPC_OPERATOR_WITHOUT_TLS: "true" },
    grants: ownGrants(deps),
    audit: auditSink(deps.db),
    services: accountsServices(deps),
    log: openLog("accounts", "silent"),
    metrics: openMetrics("accounts"),
  });
  const address = `127.0.0.1:${server.port}`;
  const clients = Object.values(SERVICES).map((definition) => connectRpc(definition, address));
  const calls = Object.fromEntries(
    Object.keys(SERVICES).map((name, at) => [name, testClient(clients[at] as RpcClient<unknown>, callContext)]),
  ) as unknown as Pick<ServedAccounts, keyof typeof SERVICES>;
  const { accounts } = calls;
  const others: ServedAccounts[] = [];
  return {
    ...calls,
    db: deps.db,
    address,
    async alsoWith(overrides) {
      const other = await serve({ ...deps, ...overrides });
      others.push(other);
      return other;
    },
    async createBrand({ tier = "plus", verified = true } = {}) {
      const id = newId("brd");
      const owner = `owner@${id.slice(4)}.example`;
      await accounts.createBrand({ id, name: "Tindahan", tier, verified });
      await accounts.addMember({ brand_id: id, email: owner, role: "owner" });
      return { id, owner };
    },
    async createKey({ id, owner }, { name = "Reports", environment = "live", permissions = [] } = {}) {
      const { key, secret } = await accounts.createKey({ brand_id: id, name, environment, permissions, created_by: owner });
      return { id: key?.id ?? "", secret };
    },
    async epochOf({ id }) {
      return (await accounts.getBrand({ brand_id: id })).brand?.epoch ?? Number.NaN;
    },
    async stop() {
      for (const other of others) await other.stop();
      for (const client of clients) client.stop();
      await server.stop();
    },
  };
}
