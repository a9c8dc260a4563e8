import { spanOf, timesOf, TIME_RANGES } from "@brand-records/console-contract/time-ranges";
import { AppError } from "@brand-records/errors";
import type { WorkspacePlan } from "@brand-records/proto/plans/v1";
import type { Services } from "../services.ts";
import type { Handlers, InBrand } from "./operation.ts";
import { LINK_HOURS, requireLinks } from "./sign-in.ts";

/** Operations that are more than one call of a service with other names. */
export const COMPOSED = {
  /** Keys and receivers are the page; without usage or plans it still says most. */
  async "overview.get"(services, caller, { brand_id }) {
    const pending = { brand_id, acting_member: "", status: "pending", page_size: 1 };
    const [{ keys }, receivers, usage, plans] = await Promise.all([
      services.accounts.listKeys({ brand_id, ids: [] }, caller.call),
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
  "events.list": ({ events }, { call }, input) => events.listEvents({ page_size: 0, ...input, count_receivers: true }, call),
  "members.add": ({ accounts }, { call }, input) => accounts.addMember({ ...input, only_new: true }, call),
  "members.leave": ({ accounts }, { call, person: { email } }, input) => accounts.removeMember({ ...input, email }, call),
  async "members.link"({ signIn }, { call, config }, input) {
    requireLinks(config);
    const { token, expires_at } = await signIn.createSignInLink({ ...input, ttl_seconds: LINK_HOURS * 3_600 }, call);
    // Browsers do not send the fragment, so the token reaches no log.
    return { url: `${new URL(config.PUBLIC_URL).origin}/sign-in#${token}`, expires_at };
  },
  "usage.get": ({ usage }, { call }, input) => usage.getUsage({ ...input, by_client: input.by_key }, call),
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

/** The last 24 hours begin and end as on the page of usage, so that their sums agree. */
async function usageOf({ usage }: Services, { brand: { brand_id }, call }: InBrand) {
  const range = timesOf(spanOf(TIME_RANGES.day, Date.now()));
  const { buckets } = await usage.getUsage({ brand_id, ...range, bucket_minutes: 60, by_key: false, by_client: false }, call);
  return { from: range.from, buckets };
}
