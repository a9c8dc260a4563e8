import { z } from "zod";
import { id, member, nullable, time } from "./operation.ts";

const PLAN_STATES = ["pending", "completed", "cancelled"] as const;

/** Dates are YYYY-MM-DD, money is in centavos. */
const summary = z.object({
  id: z.string(),
  status: z.enum(PLAN_STATES),
  title: z.string(),
  /** blitz, ugc, package or affiliate. */
  campaign_type: z.string(),
  planned_for: z.string(),
  review_on: z.string(),
  planning_budget_centavos: z.number(),
  /** Name of the key that prepared it; null if it was prepared before names were kept. */
  prepared_by: nullable(z.string()),
  created_at: time,
  updated_at: time,
  /** When and by whom it was completed or cancelled. */
  closed_at: nullable(time),
  closed_by: nullable(z.string()),
});

const plan = summary.extend({
  goal: z.string(),
  summary: nullable(z.string()),
  brief: nullable(z.string()),
  requirements: z.array(z.string()),
  platforms: z.array(z.string()),
  /** Private to the brand: no integration can read them. */
  notes: nullable(z.string()),
  /** Raised with every change. */
  revision: z.number(),
  /** Who made the last edit in the workspace, and when; null while it is as it was prepared. */
  edited_by: nullable(z.string()),
  edited_at: nullable(time),
});

const planInput = { plan_id: id("pln"), expected_revision: z.int().min(1) };

/** Bounds what a call carries. The service checks the plan's own limits, and names every problem. */
const text = z.string().max(50_000, "must be at most 50000 characters");
const texts = z.array(text).max(200, "must have at most 200 elements");

/** Campaign plans, as their workspaces show them. Nothing here publishes, funds or pays anything. */
export const PLAN_OPERATIONS = {
  /** Returns plans, newest first, and how many of the brand's plans are pending. */
  "plans.list": member({ status: z.enum(PLAN_STATES).optional(), after_id: id("pln").optional() }).returns({
    plans: z.array(summary),
    next_after_id: nullable(z.string()),
    pending: z.number(),
    pending_max: z.number(),
  }),
  "plans.get": member({ plan_id: id("pln") }).returns({ plan }),
  /**
   * Changes the fields that it names; "" and [] clear an optional one. Error `plan_changed` if the plan has another revision, and
   * `plan_not_pending` if it is closed. A change that the plan already has succeeds and raises no revision.
   */
  "plans.update": member({
    ...planInput,
    changes: z.strictObject({
      title: text.optional(),
      goal: text.optional(),
      campaign_type: text.optional(),
      planned_for: text.optional(),
      review_on: text.optional(),
      planning_budget_centavos: z.int().optional(),
      summary: text.optional(),
      brief: text.optional(),
      requirements: texts.optional(),
      platforms: texts.optional(),
      notes: text.optional(),
    }),
  }).returns({ plan }),
  /** Completes the plan permanently. All three must be true: the person confirms them. Repeated by that person, it returns the plan. */
  "plans.complete": member({
    ...planInput,
    confirmed_pay: z.boolean(),
    confirmed_rights: z.boolean(),
    confirmed_funding: z.boolean(),
  }).returns({ plan }),
  /** Cancels the plan permanently. A retry of its request_id is refused from then on. Repeated by that person, it returns the plan. */
  "plans.cancel": member(planInput).returns({ plan }),
};
