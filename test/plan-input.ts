import { randomUUID } from "node:crypto";

/** Returns a valid plan input with a new `request_id`, and `changes` applied. */
export const planInput = (changes: Record<string, unknown> = {}) => ({
  request_id: randomUUID(),
  title: "Tag-ulan skincare clips",
  goal: "500,000 views before Christmas",
  campaign_type: "blitz",
  planned_for: "2099-12-01",
  review_on: "2099-12-15",
  planning_budget: 75_000.5,
  ...changes,
});

/** Prepares a plan as an integration does. @param body text, or an object to send as JSON */
export const postPlan = (url: string, key: string, body: object | string = planInput()): Promise<Response> =>
  fetch(`${url}/api/v1/campaign-plans`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
