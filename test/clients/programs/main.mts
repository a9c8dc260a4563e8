// An integrator's program with the generated client. Prints its results as JSON, with exact amounts as strings.
import { createClient } from "./client/client/index.js";
import {
  listPayouts,
  postAssistantMessage,
  prepareCampaignPlan,
  type CampaignPlanInput,
  type Payout,
  type RpcAnswer,
} from "./client/index.js";

const { BASE_URL: baseUrl = "", READING_KEY = "", PLANNING_KEY = "", REQUEST_ID = "" } = process.env;
const clientWith = (key: string) => createClient({ baseUrl, auth: key });
const reader = clientWith(READING_KEY);

const payouts: Payout[] = [];
let pages = 0;
let cursor: string | undefined;
do {
  const { data: page } = await listPayouts({ client: reader, query: { limit: 2, cursor }, throwOnError: true });
  payouts.push(...page.data);
  pages += 1;
  cursor = page.next_cursor;
} while (cursor !== undefined);

const refused = [];
for (const { key, query } of [
  { key: READING_KEY, query: { cursor: "x" } },
  { key: "none", query: {} },
]) {
  const { error, response } = await listPayouts({ client: clientWith(key), query });
  refused.push({ status: response?.status, code: error?.error.code });
}

const plan: CampaignPlanInput = {
  request_id: REQUEST_ID,
  title: "Tag-ulan",
  goal: "500,000 views",
  campaign_type: "blitz",
  planned_for: "2026-12-01",
  review_on: "2026-12-15",
  planning_budget: 1234567.89,
};
const planner = clientWith(PLANNING_KEY);
const budgets = [];
for (let attempt = 1; attempt <= 2; attempt += 1) {
  const { data, response } = await prepareCampaignPlan({ client: planner, body: plan, throwOnError: true });
  budgets.push({ status: response.status, planning_budget: String(data.planning_budget) });
}

const { data: pong } = await postAssistantMessage({
  client: reader,
  body: { jsonrpc: "2.0", id: 7, method: "ping" },
  throwOnError: true,
});

console.log(
  JSON.stringify({
    pages,
    payouts: payouts.map(({ id, amount_centavos, status, failure_code }) => ({
      id,
      amount: String(amount_centavos),
      status,
      failure_code,
    })),
    refused,
    budgets,
    // The response to a notification is 202 without a body.
    ponged: (pong as RpcAnswer).id,
  }),
);
