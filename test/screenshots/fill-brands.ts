import { randomUUID } from "node:crypto";
import {
  type BrandRequests,
  type FailedMinute,
  type RecordUsageRequest,
  type ServedRequest,
  ServedRequests,
  UsageServiceService,
} from "@brand-records/proto/accounts/v1";
import { openPool, type Database } from "@brand-records/postgres";
import { connectRpc } from "@brand-records/rpc";
import { eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { signIn, type ConsoleCaller } from "../console-calls.ts";
import { planInput } from "../plan-input.ts";
import { seedBrand } from "../seed-brand.ts";
import { callContext, type Stack } from "../stack.ts";
import type { Behavior, ReceiverServer } from "./receiver-server.ts";

/** Who looks at the screens. */
export interface People {
  /** Owner and member of a brand in use. */
  readonly owner: ConsoleCaller;
  readonly member: ConsoleCaller;
  /** Owner of a brand with nothing yet. */
  readonly newcomer: ConsoleCaller;
  /** Owner of a brand that may not integrate. */
  readonly ineligible: ConsoleCaller;
  /** Owner of two brands. */
  readonly agency: ConsoleCaller;
}

export interface Filled {
  readonly people: People;
  readonly brandId: string;
  readonly receivers: Readonly<Record<ReceiverName, string>>;
  /** A delivery that was given up after four attempts. */
  readonly deliveryId: string;
  readonly failedDeliveryId: string;
  readonly eventId: string;
  readonly plans: Readonly<Record<PlanName, string>>;
}

const EVENTS = ["submission.approved", "submission.rejected", "payout.paid", "campaign.settled"];

/** Receivers as people see them; `behavior` is what really receives. */
const RECEIVERS = {
  healthy: { label: "Ledger sync", url: "https://hooks.ulap-at-araw.example/brand-records", behavior: "accepts", events: EVENTS },
  failing: { label: "Fulfilment", url: "https://fulfilment.ulap-at-araw.example/events", behavior: "fails", events: EVENTS.slice(1, 2) },
  paused: { label: "BigQuery loader", url: "https://loader.ulap-at-araw.example/v2/in?token=7f3a", behavior: "fails_too", events: EVENTS },
  disabled: { label: "Old CRM", url: "https://crm.old.example/incoming", behavior: "gone", events: EVENTS.slice(0, 1) },
  recovered: { label: "Creator chat relay", url: "https://relay.ulap-at-araw.example/", behavior: "recovers", events: EVENTS.slice(2) },
} as const satisfies Record<string, { label: string; url: string; behavior: Behavior; events: readonly string[] }>;

type ReceiverName = keyof typeof RECEIVERS;

export async function fillBrands(stack: Stack, consoleUrl: string, server: ReceiverServer): Promise<Filled> {
  const brandId = await createBrand(stack, "Ulap at Araw Skincare", "enterprise", "maria@ulap-at-araw.example");
  await createBrand(stack, "Kapeng Alapaap", "plus", "tess@kapeng-alapaap.example");
  await createBrand(stack, "Tindahan ni Aling Nena", "starter", "nena@tindahan.example", false);
  const second = await createBrand(stack, "Lakad Lokal", "pro", "bea@ahensya.example");
  await stack.accounts.addMember({ brand_id: brandId, email: "jun@ulap-at-araw.example", role: "member" }, callContext());
  await stack.accounts.addMember({ brand_id: brandId, email: "bea@ahensya.example", role: "owner" }, callContext());
  const person = (email: string): Promise<ConsoleCaller> => signIn(stack, consoleUrl, email);
  const people = {
    owner: await person("maria@ulap-at-araw.example"),
    member: await person("jun@ulap-at-araw.example"),
    newcomer: await person("tess@kapeng-alapaap.example"),
    ineligible: await person("nena@tindahan.example"),
    agency: await person("bea@ahensya.example"),
  };
  await people.agency.call("keys.create", { brand_id: second, name: "Monthly report", may_prepare: false });
  const planner = await fillKeys(stack, people.owner, brandId);
  const plans = await fillPlans(stack, people.owner, brandId, planner);
  return { people, brandId, plans, ...(await fillReceivers(stack, people.owner, brandId, server)) };
}

async function createBrand(stack: Stack, name: string, tier: string, email: string, verified = true): Promise<string> {
  const id = newId("brd");
  await stack.accounts.createBrand({ id, name, tier, verified }, callContext());
  await stack.accounts.addMember({ brand_id: id, email, role: "owner" }, callContext());
  return id;
}

/** Keys that are used, unused and revoked, and a day of requests that sometimes reach the limit. */
async function fillKeys(stack: Stack, owner: ConsoleCaller, brand_id: string): Promise<string> {
  const create = async (name: string, may_prepare = false) => await owner.call("keys.create", { brand_id, name, may_prepare });
  const old = await create("Looker, before the move");
  const looker = await create("Looker report");
  const warehouse = await create("Warehouse sync (BigQuery, every 15 minutes)");
  const planner = await create("Claude, campaign team", true);
  for (const { secret } of [old, looker, warehouse]) await stack.get("/api/v1/campaigns?limit=1", secret);
  await owner.call("keys.revoke", { brand_id, key_id: old.key.id });
  const usage = connectRpc(UsageServiceService, stack.addresses.accounts);
  const record = (counts: Partial<RecordUsageRequest>): Promise<unknown> =>
    usage.recordUsage({ batch_id: randomUUID(), minutes: [], clients: [], failures: [], requests: [], ...counts }, callContext());
  try {
    const now = Math.floor(Date.now() / 60_000);
    const minutes = Array.from({ length: 24 * 60 }, (_, ago) => {
      const hour = ((now - ago) / 60 + 8) % 24;
      const busy = Math.max(0, Math.sin(((hour - 6) / 15) * Math.PI)) * 60 + (ago % 7) * 3;
      const looks = Math.round(busy * 0.3) + 1;
      const minute = new Date((now - ago) * 60_000).toISOString();
      const over = ago > 300 && ago < 330 ? 75 : 0;
      return [
        { brand_id, key_id: looker.key.id, minute, accepted: looks, refused: 0 },
        { brand_id, key_id: warehouse.key.id, minute, accepted: over > 0 ? 240 - looks : Math.round(busy), refused: over },
        // As many as the messages below.
        { brand_id, key_id: planner.key.id, minute, accepted: ago % 144 === 0 ? 23 : 0, refused: 0 },
      ];
    });
    for (let first = 0; first < minutes.length; first += 240) {
      const batch = minutes.slice(first, first + 240).flat();
      await record({ minutes: batch });
    }
    const day = new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 10);
    const client = (key_id: string, name: string, messages: number) => ({
      brand_id,
      key_id,
      day,
      name,
      messages,
      connecting: Math.floor(messages / 5),
    });
    const clients = [
      client(planner.key.id, "claude-code", 214),
      client(looker.key.id, "Cursor", 61),
      client(planner.key.id, "claude-ai (via mcp-remote 0.1.37, at the desk of the campaigns t", 12),
      client(looker.key.id, "node", 5),
      client(planner.key.id, "other", 3),
      client(planner.key.id, "unnamed", 1),
    ];
    await record({ clients, failures: failuresOf(), requests: [requestsOf()] });
  } finally {
    usage.stop();
  }

  /** The last hour: a nightly report, a sync that reaches the limit, and an assistant. */
  function requestsOf(): BrandRequests {
    const of = (n: number): Partial<ServedRequest> => {
      if (n === 0)
        return { key_id: looker.key.id, http_status: 400, code: "invalid_parameter", request_id: "order-sync-4711", client: "looker" };
      if (n % 7 === 3) return { key_id: planner.key.id, route: "POST /api/mcp tools/call list_submissions", client: "claude-code" };
      if (n % 5 === 2)
        return { key_id: warehouse.key.id, http_status: 429, code: "rate_limited", route: "GET /api/v1/submissions", duration_ms: 1 };
      return { key_id: warehouse.key.id, client: "python-httpx" };
    };
    const requests = Array.from({ length: 120 }, (_, n) => ({
      at: new Date(Date.now() - (119 - n) * 30_000).toISOString(),
      key_id: old.key.id,
      route: "GET /api/v1/payouts",
      http_status: 200,
      code: "",
      duration_ms: 9 + ((n * 37) % 61),
      request_id: randomUUID(),
      client: "node",
      ...of(119 - n),
    }));
    return { brand_id, count: requests.length, requests: Buffer.from(ServedRequests.encode({ requests }).finish()) };
  }

  function failuresOf(): FailedMinute[] {
    const failure = (minutesAgo: number, key_id: string, route: string, code: string, field: string, requests: number): FailedMinute => {
      const minute = new Date(Math.floor(Date.now() / 60_000) * 60_000 - minutesAgo * 60_000).toISOString();
      const request_ids = Array.from({ length: Math.min(3, requests) }, () => randomUUID());
      return { brand_id, key_id, minute, route, code, field, requests, request_ids };
    };
    return [
      ...Array.from({ length: 30 }, (_, n) => failure(300 + n, warehouse.key.id, "GET /api/v1/submissions", "rate_limited", "", 75)),
      ...Array.from({ length: 50 }, (_, n) =>
        failure(20 + n * 90, looker.key.id, "GET /api/v1/payouts", "invalid_parameter", "limit", 1 + (n % 4)),
      ),
      failure(15, looker.key.id, "GET /api/v1/payouts", "invalid_parameter", "*", 2),
      failure(700, planner.key.id, "POST /api/mcp tools/call prepare_campaign_plan", "invalid_request", "planning_budget", 3),
      failure(1_500, old.key.id, "GET /api/*", "unknown_resource", "", 4),
      failure(4_000, warehouse.key.id, "GET /api/v1/conversions", "internal_error", "", 1),
    ];
  }
  await eventually(async () => {
    const { keys } = await owner.call("keys.list", { brand_id });
    if (!keys.some(({ last_used_at }) => last_used_at !== null)) throw new Error("no key counts as used");
  });
  return planner.secret;
}

const PLANS = {
  pending: {
    title: "Tag-ulan skincare clips",
    goal: "500,000 views before Christmas, from creators who live through the rainy season",
    summary: "Short clips of a two-minute routine on a rainy morning: humid, rushed, real.",
    brief:
      "Show the product within the first three seconds.\n\nSay in your own words what changed for your skin. Taglish is welcome. No claims about healing or whitening.\n\nEnd with the link in your bio.",
    requirements: [
      "Vertical video, 15 to 45 seconds",
      "Captions burnt in, Taglish or English",
      "The product’s label is readable for at least one second",
    ],
    platforms: ["tiktok", "instagram reels", "youtube shorts"],
    notes: "Our ceiling is ₱90,000. Ask Bea before we go above it.",
  },
  completed: { title: "Holiday gift sets, affiliate", campaign_type: "affiliate", planning_budget: 120_000, brief: "Unbox one set." },
  cancelled: { title: "Valentine’s package", campaign_type: "package", planned_for: "2027-02-14", planning_budget: 300_000 },
  another: { title: "Sunscreen for commuters", campaign_type: "ugc", planned_for: "2027-03-01", planning_budget: 48_000 },
} as const;

type PlanName = keyof typeof PLANS;

/** Plans in each state, as an assistant has prepared them. @returns the paths of their pages */
async function fillPlans(stack: Stack, owner: ConsoleCaller, brand_id: string, key: string): Promise<Filled["plans"]> {
  const paths: Record<string, string> = {};
  for (const [name, content] of Object.entries(PLANS)) {
    const response = await fetch(`${stack.url}/api/v1/campaign-plans`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(planInput({ planned_for: "2026-12-01", review_on: "2027-03-15", ...content })),
    });
    paths[name] = ((await response.json()) as { readonly review_path: string }).review_path;
  }
  const plan = (name: PlanName) => ({ brand_id, plan_id: paths[name]?.split("/").at(-1) ?? "", expected_revision: 1 });
  await owner.call("plans.complete", { ...plan("completed"), confirmed_pay: true, confirmed_rights: true, confirmed_funding: true });
  await owner.call("plans.cancel", plan("cancelled"));
  return paths as Filled["plans"];
}

/** Receivers in every state, with the deliveries that led to it. */
async function fillReceivers(
  stack: Stack,
  owner: ConsoleCaller,
  brand_id: string,
  server: ReceiverServer,
): Promise<Pick<Filled, "receivers" | "deliveryId" | "failedDeliveryId" | "eventId">> {
  const receivers: Record<string, string> = {};
  for (const [name, { label, behavior, events }] of Object.entries(RECEIVERS)) {
    const { receiver } = await owner.call("receivers.create", { brand_id, url: server.urlOf(behavior), label, events: [...events] });
    receivers[name] = receiver.id;
  }
  const idOf = (name: ReceiverName): string => receivers[name] ?? "";
  const test = async (name: ReceiverName, type: string): Promise<string> =>
    (await owner.call("receivers.test", { brand_id, receiver_id: idOf(name), type, next: false })).delivery_id;

  const deliveryId = await test("recovered", "campaign.settled");
  await seedBrand(stack, brand_id);
  await withSql(stack, (sql) => changeStatuses(sql, brand_id));
  await Promise.all(
    Object.entries({
      recovered: ({ last_outcome }) => last_outcome === "accepted",
      healthy: ({ last_outcome, waiting }) => last_outcome === "accepted" && waiting === 0,
      // Eight attempts are too few to pause it.
      failing: ({ failures }) => failures >= 8,
      paused: ({ paused_until }) => paused_until !== null,
      disabled: ({ enabled, waiting }) => !enabled && waiting > 0,
    } satisfies Record<ReceiverName, (receiver: Awaited<ReturnType<typeof get>>) => boolean>).map(([name, isReached]) =>
      eventually(
        async () => {
          const receiver = await get(idOf(name as ReceiverName));
          if (!isReached(receiver)) throw new Error(`${name} is not yet so: ${JSON.stringify(receiver)}`);
        },
        { timeoutMs: 60_000, everyMs: 200 },
      ),
    ),
  );
  async function get(receiver_id: string) {
    return (await owner.call("receivers.get", { brand_id, receiver_id })).receiver;
  }
  // Comes this late because sending needs the real addresses.
  await withSql(stack, (sql) => renameUrls(sql, receivers));
  const failed = await owner.call("deliveries.list", { brand_id, receiver_id: idOf("failing") });
  const { events } = await owner.call("events.list", { brand_id });
  return {
    receivers: receivers as Filled["receivers"],
    deliveryId,
    failedDeliveryId: failed.deliveries.find(({ attempts }) => attempts > 0)?.id ?? "",
    eventId: events.find(({ test }) => !test)?.id ?? "",
  };
}

async function withSql({ databaseUrl }: Stack, run: (sql: Database) => Promise<unknown>): Promise<void> {
  const sql = openPool({ url: databaseUrl, applicationName: "screenshots" });
  try {
    await run(sql);
  } finally {
    await sql.stop();
  }
}

/** What the platform does over a morning. */
async function changeStatuses(sql: Database, brandId: string): Promise<void> {
  const review = (status: string, code: string, count: number): Promise<unknown> =>
    sql.query(
      `update records.submissions set status = $2, reviewed_at = now() ${code}
        where (brand_id, id) in (select brand_id, id from records.submissions where brand_id = $1 and status = 'pending' limit $3)`,
      [brandId, status, count],
    );
  await review("approved", "", 6);
  await review("rejected", ", rejection_code = 'off_brief'", 2);
}

async function renameUrls(sql: Database, ids: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, { url }] of Object.entries(RECEIVERS)) {
    await sql.query("update webhook.receivers set url = $2 where id = $1", [ids[name], url]);
  }
  // Or the next try, at an address that does not exist, would show another outcome.
  await sql.query("update webhook.lanes set open_until = now() + interval '12 minutes' where receiver_id = $1", [ids["paused"]]);
}
