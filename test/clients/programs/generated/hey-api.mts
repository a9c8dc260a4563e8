// An integrator's program with the client of @hey-api/openapi-ts. Prints what it reads as JSON.
import { readFileSync } from "node:fs";
import { createClient } from "./client/client/index.js";
import {
  listCampaigns,
  listConversions,
  listDeposits,
  listLinks,
  listPayouts,
  listSubmissions,
  postAssistantMessage,
  prepareCampaignPlan,
  type CampaignPlanInput,
  type CampaignSettledEvent,
  type PayoutPaidEvent,
  type RpcAnswer,
  type SubmissionApprovedEvent,
  type SubmissionRejectedEvent,
} from "./client/index.js";

const { BASE_URL: baseUrl = "", READING_KEY = "", PLANNING_KEY = "", REQUEST_ID = "", EVENTS = "" } = process.env;
const clientWith = (key: string) => createClient({ baseUrl, auth: key });
const reader = clientWith(READING_KEY);

const page = (cursor?: string) => ({ client: reader, query: { limit: 20, cursor }, throwOnError: true }) as const;
const lists = {
  campaigns: (cursor?: string) => listCampaigns(page(cursor)),
  submissions: (cursor?: string) => listSubmissions(page(cursor)),
  payouts: (cursor?: string) => listPayouts(page(cursor)),
  deposits: (cursor?: string) => listDeposits(page(cursor)),
  conversions: (cursor?: string) => listConversions(page(cursor)),
  links: (cursor?: string) => listLinks(page(cursor)),
};
const records: Record<string, object[]> = {};
for (const [name, list] of Object.entries(lists)) {
  const found: object[] = (records[name] = []);
  let cursor: string | undefined;
  do {
    const { data: read } = await list(cursor);
    found.push(...read.data);
    cursor = read.next_cursor;
  } while (cursor !== undefined);
}

type Event = SubmissionApprovedEvent | SubmissionRejectedEvent | PayoutPaidEvent | CampaignSettledEvent;
const events = readFileSync(EVENTS, "utf8")
  .split("\n")
  .map((line) => JSON.parse(line) as Event);

const refused = [];
for (const { key, query } of [
  { key: READING_KEY, query: { cursor: "x".repeat(40) } },
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
  budgets.push({ status: response.status, planning_budget: data.planning_budget });
}

const { data: pong } = await postAssistantMessage({
  client: reader,
  body: { jsonrpc: "2.0", id: 7, method: "ping" },
  throwOnError: true,
});

// The response to a notification is 202 without a body.
console.log(JSON.stringify({ records, events, refused, budgets, ponged: (pong as RpcAnswer).id }));
