import { isObject } from "./attempt.ts";
import { BrandRecordsError } from "./brand-records-error.ts";
import type { CampaignPlan, CampaignPlanInput } from "./generated/api.ts";
import type { CallOptions } from "./options.ts";
import type { ExpectedBrand, Transport } from "./transport.ts";

/**
 * What to prepare. `request_id` is made if it is missing. A program that may be restarted stores its own before the call, and a call with a
 * `signal` needs its own: the reason that an aborted call rejects with does not have the one that was made.
 */
export type PlanInput = Omit<CampaignPlanInput, "request_id"> & { readonly request_id?: string | undefined };

/** The plan as it is now. */
export interface PreparedPlan extends CampaignPlan {}

export async function preparePlan(
  transport: Transport,
  input: PlanInput,
  options: CallOptions,
  expectBrand: ExpectedBrand,
): Promise<PreparedPlan> {
  const request_id = input.request_id ?? crypto.randomUUID();
  // Written once: every repetition sends these bytes.
  const body = JSON.stringify({ ...input, request_id });
  try {
    const request = { method: "POST", path: "/api/v1/campaign-plans", body, isWhole: isPlan } as const;
    const answer = await transport.send(request, options, expectBrand);
    return answer.body as PreparedPlan;
  } catch (error) {
    if (error instanceof BrandRecordsError) error.planRequestId = request_id;
    throw error;
  }
}

const isPlan = (body: unknown): boolean => isObject(body) && typeof body["plan_id"] === "string";
