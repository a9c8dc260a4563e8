// An integrator's program with orval's client, which validates what it reads with orval's schemas of zod. Prints what it reads as JSON.
import { readFileSync } from "node:fs";
import {
  listCampaigns,
  listConversions,
  listDeposits,
  listLinks,
  listPayouts,
  listSubmissions,
  postAssistantMessage,
  prepareCampaignPlan,
} from "./client/index.js";
import { CampaignList } from "./client/zod/campaignList.zod.js";
import { CampaignPlan } from "./client/zod/campaignPlan.zod.js";
import { CampaignPlanInput } from "./client/zod/campaignPlanInput.zod.js";
import { CampaignSettledEvent } from "./client/zod/campaignSettledEvent.zod.js";
import { ConversionList } from "./client/zod/conversionList.zod.js";
import { DepositList } from "./client/zod/depositList.zod.js";
import { Error as ErrorBody } from "./client/zod/error.zod.js";
import { LinkList } from "./client/zod/linkList.zod.js";
import { PayoutList } from "./client/zod/payoutList.zod.js";
import { PayoutPaidEvent } from "./client/zod/payoutPaidEvent.zod.js";
import { RpcAnswer } from "./client/zod/rpcAnswer.zod.js";
import { SubmissionApprovedEvent } from "./client/zod/submissionApprovedEvent.zod.js";
import { SubmissionList } from "./client/zod/submissionList.zod.js";
import { SubmissionRejectedEvent } from "./client/zod/submissionRejectedEvent.zod.js";

const { READING_KEY = "", PLANNING_KEY = "", REQUEST_ID = "", EVENTS = "" } = process.env;
const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const reader = withKey(READING_KEY);

const lists = {
  campaigns: async (cursor?: string) => CampaignList.parse((await listCampaigns({ limit: 20, cursor }, reader)).data),
  submissions: async (cursor?: string) => SubmissionList.parse((await listSubmissions({ limit: 20, cursor }, reader)).data),
  payouts: async (cursor?: string) => PayoutList.parse((await listPayouts({ limit: 20, cursor }, reader)).data),
  deposits: async (cursor?: string) => DepositList.parse((await listDeposits({ limit: 20, cursor }, reader)).data),
  conversions: async (cursor?: string) => ConversionList.parse((await listConversions({ limit: 20, cursor }, reader)).data),
  links: async (cursor?: string) => LinkList.parse((await listLinks({ limit: 20, cursor }, reader)).data),
};
const records: Record<string, object[]> = {};
for (const [name, list] of Object.entries(lists)) {
  const found: object[] = (records[name] = []);
  let cursor: string | undefined;
  do {
    const read = await list(cursor);
    found.push(...read.data);
    cursor = read.next_cursor;
  } while (cursor !== undefined);
}

const schemas = {
  "submission.approved": SubmissionApprovedEvent,
  "submission.rejected": SubmissionRejectedEvent,
  "payout.paid": PayoutPaidEvent,
  "campaign.settled": CampaignSettledEvent,
};
const events = readFileSync(EVENTS, "utf8")
  .split("\n")
  .map((line) => JSON.parse(line) as { readonly type: keyof typeof schemas })
  .map((event) => schemas[event.type].parse(event));

const refused = [];
for (const { key, cursor } of [{ key: READING_KEY, cursor: "x".repeat(40) }, { key: "none" }]) {
  const { status, data } = await listPayouts({ cursor }, withKey(key));
  refused.push({ status, code: ErrorBody.parse(data).error.code });
}

const plan = CampaignPlanInput.parse({
  request_id: REQUEST_ID,
  title: "Tag-ulan",
  goal: "500,000 views",
  campaign_type: "blitz",
  planned_for: "2026-12-01",
  review_on: "2026-12-15",
  planning_budget: 1234567.89,
});
const budgets = [];
for (let attempt = 1; attempt <= 2; attempt += 1) {
  const { status, data } = await prepareCampaignPlan(plan, withKey(PLANNING_KEY));
  budgets.push({ status, planning_budget: CampaignPlan.parse(data).planning_budget });
}

const pong = RpcAnswer.parse((await postAssistantMessage({ jsonrpc: "2.0", id: 7, method: "ping" }, reader)).data);

console.log(JSON.stringify({ records, events, refused, budgets, ponged: pong.id }));
