import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { AppError } from "@brand-records/errors";
import { KeyedMutex } from "@brand-records/lifecycle";
import { migrate, openPool, type Database } from "@brand-records/postgres";
import {
  OperatorServiceService,
  PlansServiceService,
  type Plan,
  type PlanChanges,
  type PlanInput,
  type WorkspacePlan,
} from "@brand-records/proto/plans/v1";
import { connectRpc, serveRpc, service, newCallContext, type CallContext } from "@brand-records/rpc";
import { AuditOutbox } from "@brand-records/service-runtime";
import { openLog, openMetrics, type Logger } from "@brand-records/telemetry";
import { createDatabase, statedGrants, testClient, type TestClient } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import type { PlansDependencies } from "../src/dependencies.ts";
import { operatorHandlers } from "../src/rpc/operator.ts";
import { plansHandlers } from "../src/rpc/plans.ts";

const MIGRATIONS = join(import.meta.dirname, "../migrations");

export const CONFIRMED = { confirmed_pay: true, confirmed_rights: true, confirmed_funding: true };

export const callContext = (withinMs = 60_000): CallContext => newCallContext(withinMs, "test");

export const newBrand = (): string => newId("brd");

export const PAGE_SIZE_MAX = 40;

export const MEMBER = "ana@example.ph";
export const OTHER_MEMBER = "zoe@example.ph";

/** The context of a call of a person. */
export const callOf = (email: string): CallContext => ({ ...callContext(), grants: { plans: `${email} member` } });

/** The input of a new request. */
export const planInput = (more: Partial<PlanInput> = {}): PlanInput => ({
  request_id: randomUUID(),
  title: "Summer launch",
  goal: "Reach a million views",
  campaign_type: "blitz",
  planned_for: "2026-12-01",
  review_on: "2026-11-20",
  planning_budget_centavos: 2_500_050,
  summary: "Clips of the launch",
  brief: "Show the product within three seconds",
  requirements: ["vertical video", "captions"],
  platforms: ["tiktok", "instagram"],
  notes: "Our ceiling is twice that",
  ...more,
});

/** A new input with the required fields only. */
export const shortPlanInput = (more: Partial<PlanInput> = {}): PlanInput =>
  planInput({ summary: null, brief: null, requirements: [], platforms: [], notes: null, ...more });

/** A new input with texts of the maximum length, in four-byte characters. */
export const longestPlanInput = (more: Partial<PlanInput> = {}): PlanInput => {
  const emoji = (length: number): string => "😀".repeat(length);
  return planInput({
    title: emoji(200),
    goal: emoji(2_000),
    planning_budget_centavos: 100_000_000_000,
    summary: emoji(2_000),
    brief: emoji(20_000),
    requirements: Array.from({ length: 50 }, () => emoji(500)),
    platforms: Array.from({ length: 20 }, () => emoji(64)),
    notes: emoji(5_000),
    ...more,
  });
};

/** One process of the service: its own gRPC server, connections and mutex. */
export interface ServedPlans {
  readonly plans: TestClient<PlansServiceService>;
  readonly operator: TestClient<OperatorServiceService>;
  readonly deps: PlansDependencies;
  prepare(brandId: string, input: PlanInput): Promise<{ plan: Plan; replayed: boolean }>;
  /** Prepares a plan of a new brand. */
  pendingPlan(): Promise<{ brand: string; input: PlanInput; plan: Plan }>;
  get(brandId: string, planId: string): Promise<Plan>;
  getInWorkspace(brandId: string, planId: string): Promise<WorkspacePlan>;
  /** Saves changes on a revision. */
  update(brandId: string, planId: string, revision: number, changes: Partial<PlanChanges>, member?: string): Promise<WorkspacePlan>;
  /** Closes the plan, on its first revision unless another is given. */
  cancel(brandId: string, planId: string, member?: string, revision?: number): Promise<Plan>;
  complete(brandId: string, planId: string, member?: string, revision?: number): Promise<Plan>;
  /** Returns every plan of a brand, newest first. */
  all(brandId: string, status?: string): Promise<Plan[]>;
}

export interface ServedDatabase extends ServedPlans {
  /** Connections besides those of the service. */
  readonly db: Database;
  /** Starts another process on the same database; stops with this one. */
  another(options?: ServeOptions): Promise<ServedPlans>;
  stop(): Promise<void>;
}

export interface ServeOptions {
  readonly brandMutex?: KeyedMutex;
  readonly pendingMax?: number;
  readonly onPrepared?: PlansDependencies["onPrepared"];
  readonly log?: Logger;
  /** Changes the database that the service works with. */
  readonly changed?: (db: Database) => Database;
}

/** Serves plans, over real gRPC and with its own database, from before the tests of a file until after them. */
export function servedPlans(options: ServeOptions = {}): ServedDatabase {
  const served = {} as ServedDatabase;
  beforeAll(async () => Object.assign(served, await servePlans(options)));
  afterAll(() => served.stop());
  return served;
}

/** Expects a call to be refused with an error of this kind, about this field. */
export const expectRefusal = (call: Promise<unknown>, kind: string, field?: string): Promise<void> =>
  expect(call).rejects.toMatchObject(field === undefined ? { kind } : { kind, field });

/** Waits for calls. Returns what those that succeed return, and the others' errors. */
export async function settled<T>(calls: Iterable<Promise<T>>): Promise<{ done: T[]; refused: AppError[] }> {
  const outcomes = await Promise.allSettled(calls);
  return {
    done: outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : [])),
    refused: outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as AppError] : [])),
  };
}

/** The error of a refused call, as callers see it. */
export const refusalOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "accepted",
    ({ kind, message, field, details }: AppError) => ({ kind, message, field, details }),
  );

async function servePlans(options: ServeOptions): Promise<ServedDatabase> {
  const database = await createDatabase("plans_schema", async (url) => {
    await migrate({ url, schema: "plans", directory: MIGRATIONS });
  });
  const db = openPool({ url: database.url, applicationName: "test" });
  const stops: (() => Promise<void>)[] = [];
  const another = async (more: ServeOptions = {}): Promise<ServedPlans> => {
    const { stop, ...served } = await serve(database.url, more);
    stops.unshift(stop);
    return served;
  };
  return {
    ...(await another(options)),
    db,
    another,
    async stop() {
      for (const stop of stops) await stop();
      await db.stop();
      await database.drop();
    },
  };
}

async function serve(
  url: string,
  {
    brandMutex = new KeyedMutex(),
    pendingMax = 200,
    onPrepared = () => {},
    log = openLog("plans", "silent"),
    changed = (db) => db,
  }: ServeOptions,
): Promise<ServedPlans & { stop(): Promise<void> }> {
  const db = openPool({ url, applicationName: "plans" });
  const metrics = openMetrics("plans");
  const accounts = { recordAudit: async () => ({ epoch: "test", refused: [] }) };
  const audit = new AuditOutbox({ schema: "plans", db, accounts, log, metrics });
  const deps = { db: changed(db), clock: Date, audit, brandMutex, pendingMax, onPrepared };
  const server = await serveRpc({
    config: { RPC_HOST: "127.0.0.1", RPC_PORT: 0, RPC_OPERATOR_WITHOUT_TLS: "true" },
    services: [service(PlansServiceService, plansHandlers(deps)), service(OperatorServiceService, operatorHandlers(deps))],
    log,
    metrics,
    grants: statedGrants,
    audit,
  });
  const address = `127.0.0.1:${server.port}`;
  const clients = [connectRpc(PlansServiceService, address), connectRpc(OperatorServiceService, address)] as const;
  const [plans, operator] = [testClient(clients[0], callContext), testClient(clients[1], callContext)];
  const prepare = async (brand_id: string, input: PlanInput) => {
    const { plan, replayed } = await plans.preparePlan({ brand_id, input });
    return { plan: present(plan), replayed };
  };
  return {
    plans,
    operator,
    deps,
    prepare,
    async pendingPlan() {
      const [brand, input] = [newBrand(), planInput()];
      return { brand, input, plan: (await prepare(brand, input)).plan };
    },
    async get(brand_id, plan_id) {
      return present((await plans.getPlan({ brand_id, plan_id })).plan);
    },
    async getInWorkspace(brand_id, plan_id) {
      return present((await plans.getWorkspacePlan({ brand_id, plan_id, acting_member: MEMBER })).plan);
    },
    async update(brand_id, plan_id, expected_revision, changes, acting_member = MEMBER) {
      const request = { brand_id, plan_id, acting_member, expected_revision, changes: { requirements: null, platforms: null, ...changes } };
      return present((await plans.updatePlan(request)).plan);
    },
    async cancel(brand_id, plan_id, member = MEMBER, expected_revision = 1) {
      return present((await plans.cancelPlan({ brand_id, plan_id, member, expected_revision })).plan);
    },
    async complete(brand_id, plan_id, member = MEMBER, expected_revision = 1) {
      const request = { brand_id, plan_id, member, expected_revision, ...CONFIRMED };
      return present((await plans.completePlan(request)).plan);
    },
    async all(brand_id, status) {
      const found: Plan[] = [];
      for (let after_id: string | null | undefined; ;) {
        const page: Awaited<ReturnType<typeof plans.listPlans>> = await plans.listPlans({
          brand_id,
          page_size: PAGE_SIZE_MAX,
          after_id,
          status,
        });
        found.push(...page.plans);
        after_id = page.next_after_id;
        if (after_id == null) return found;
      }
    },
    async stop() {
      for (const client of clients) client.stop();
      await server.stop();
      await audit.stop();
      await db.stop();
    },
  };
}

function present<P extends Plan | WorkspacePlan>(plan: P | null): P {
  if (plan === null) throw new Error("the response has no plan");
  return plan;
}
