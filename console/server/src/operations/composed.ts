import { AppError } from "@brand-records/errors";
import type { Key } from "@brand-records/proto/accounts/v1";
import type { WorkspacePlan } from "@brand-records/proto/plans/v1";
import type { Services } from "../services.ts";
import type { Handlers, InBrand } from "./operation.ts";
import { LINK_HOURS, requireLinks } from "./sign-in.ts";

const PAGE_SIZE = 50;

/** Bars of the page of usage: the last 24 hours begin and end with one on both pages, so that their sums agree. */
const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;

/** Ids that accounts takes in one call. */
const IDS_MAX = 200;

/** Operations that are more than one call of a service with other names. */
export const COMPOSED = {
  /** Keys and receivers are the page; without usage or plans it still says most. */
  async "overview.get"(services, caller, { brand_id }) {
    const pending = { brand_id, acting_member: "", status: "pending", page_size: 1 };
    const [{ keys }, receivers, usage, plans] = await Promise.all([
      firstKeys(services, caller),
      receiversOf(services, caller),
      usageOf(services, caller).catch(() => null),
      services.plans.listPlanSummaries(pending, caller.call).catch(() => null),
    ]);
    return { keys, ...receivers, usage, plans_pending: plans?.pending ?? null };
  },
  "keys.create"({ accounts }, { call, config }, { may_prepare, ...input }) {
    const permissions = may_prepare ? ["campaigns:prepare"] : [];
    return accounts.createKey({ ...input, environment: config.ENVIRONMENT, permissions, created_by: "" }, call);
  },
  async "receivers.enable"({ receivers }, { call }, input) {
    const enabled = await receivers.enableReceiver(input, call);
    if (enabled.receiver?.enabled !== false) return enabled;
    throw new AppError("request_conflict", "The receiver was disabled again meanwhile, and stays so. What was dropped until then is gone.");
  },
  async "deliveries.get"({ deliveries }, { call }, input) {
    const { body = null, attempts, ...details } = await deliveries.getDelivery(input, call);
    const shown = attempts.map(({ response, ...attempt }) => ({ ...attempt, response: response.toString("utf8") }));
    return { ...details, attempts: shown, body: body?.toString("utf8") ?? null };
  },
  async "events.get"({ events }, { call }, input) {
    const { body, ...found } = await events.getEvent(input, call);
    return { ...found, body: body.toString("utf8") };
  },
  "members.leave": ({ accounts }, { call, person: { email } }, input) => accounts.removeMember({ ...input, email }, call),
  async "members.link"({ signIn }, { call, config }, input) {
    requireLinks(config);
    const { token, expires_at } = await signIn.createSignInLink({ ...input, ttl_seconds: LINK_HOURS * 3_600 }, call);
    // Browsers do not send the fragment, so the token reaches no log.
    return { url: `${new URL(config.PUBLIC_URL).origin}/sign-in#${token}`, expires_at };
  },
  async "audit.list"(services, caller, input) {
    const listed = await services.audit.listAudit({ ...input, page_size: PAGE_SIZE }, caller.call);
    const subjects = listed.entries.flatMap(({ subject_id }) => (subject_id?.startsWith("key_") === true ? [subject_id] : []));
    return { ...listed, keys: await withKeysOf(services, caller, subjects) };
  },
  async "requests.failed"(services, caller, input) {
    const [failed, { keys }] = await Promise.all([services.usage.listFailedRequests(input, caller.call), firstKeys(services, caller)]);
    const ids = failed.groups.map(({ key_id }) => key_id);
    return { ...failed, keys: await withKeysOf(services, caller, ids, keys) };
  },
  async "usage.get"(services, caller, input) {
    const { by_key } = input;
    const [{ buckets, clients }, { keys }] = await Promise.all([
      services.usage.getUsage({ ...input, by_client: by_key }, caller.call),
      by_key ? firstKeys(services, caller) : { keys: [] },
    ]);
    const ids = by_key ? [...buckets, ...clients].flatMap(({ key_id }) => key_id ?? []) : [];
    return { buckets, keys: await withKeysOf(services, caller, ids, keys), clients };
  },
  "plans.get": async ({ plans }, { call }, input) => shown((await plans.getWorkspacePlan({ ...input, acting_member: "" }, call)).plan),
  async "plans.update"({ plans }, { call }, { changes: { requirements, platforms, ...texts }, ...input }) {
    const changes = { ...texts, requirements: textsOf(requirements), platforms: textsOf(platforms) };
    return shown((await plans.updatePlan({ ...input, acting_member: "", changes }, call)).plan);
  },
  "plans.complete": async ({ plans }, { call }, input) => shown((await plans.completePlan({ ...input, member: "" }, call)).workspace_plan),
  "plans.cancel": async ({ plans }, { call }, input) => shown((await plans.cancelPlan({ ...input, member: "" }, call)).workspace_plan),
} satisfies Partial<Handlers>;

const textsOf = (texts: string[] | undefined) => (texts === undefined ? null : { texts });

function shown(message: WorkspacePlan | null) {
  if (message?.plan == null) throw new Error("plans returned no plan");
  const { plan, ...ofWorkspace } = message;
  return { plan: { ...plan, ...ofWorkspace } };
}

/** The first page of the brand's keys: those in use, if it has not hundreds. */
const firstKeys = ({ accounts }: Services, { brand: { brand_id }, call }: InBrand) => accounts.listKeys({ brand_id, ids: [] }, call);

/** Returns `known`, and the keys of the first 200 of these ids that are not among them. */
async function withKeysOf(
  { accounts }: Services,
  { brand: { brand_id }, call }: InBrand,
  ids: readonly string[],
  known: Key[] = [],
): Promise<Key[]> {
  const isKnown = new Set(known.map(({ id }) => id));
  const missing = [...new Set(ids)].filter((id) => !isKnown.has(id)).slice(0, IDS_MAX);
  if (missing.length === 0) return known;
  const { keys } = await accounts.listKeys({ brand_id, ids: missing }, call);
  return [...known, ...keys];
}

async function receiversOf(services: Services, { call, brand: { brand_id } }: InBrand) {
  const { receivers } = await services.receivers.listReceivers({ brand_id }, call);
  if (receivers.some(({ last_outcome }) => last_outcome === "accepted")) return { receivers, has_accepted: true };
  const delivered = await Promise.all(
    receivers
      .filter(({ last_delivery_at }) => last_delivery_at != null)
      .map(({ id }) => services.deliveries.listDeliveries({ brand_id, receiver_id: id, states: ["delivered"], page_size: 1 }, call)),
  );
  return { receivers, has_accepted: delivered.some(({ deliveries: found }) => found.length > 0) };
}

async function usageOf({ usage }: Services, { brand: { brand_id }, call }: InBrand) {
  const to = (Math.floor(Date.now() / QUARTER_MS) + 1) * QUARTER_MS;
  const range = { from: new Date(to - DAY_MS).toISOString(), to: new Date(to).toISOString() };
  const { buckets } = await usage.getUsage({ brand_id, ...range, bucket_minutes: 60, by_key: false, by_client: false }, call);
  return { from: range.from, buckets };
}
