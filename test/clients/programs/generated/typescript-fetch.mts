// An integrator's program with openapi-generator's client for typescript-fetch. Prints what it reads as JSON.
import { readFileSync } from "node:fs";
import {
  AssistantsApi,
  CampaignPlanInputCampaignTypeEnum,
  CampaignPlansApi,
  CampaignSettledEventFromJSON,
  CampaignSettledEventToJSON,
  CampaignToJSON,
  Configuration,
  ConversionToJSON,
  DepositToJSON,
  LinkToJSON,
  ModelErrorFromJSON,
  PayoutPaidEventFromJSON,
  PayoutPaidEventToJSON,
  PayoutToJSON,
  RecordsApi,
  ResponseError,
  RpcMessageJsonrpcEnum,
  SubmissionApprovedEventFromJSON,
  SubmissionApprovedEventToJSON,
  SubmissionRejectedEventFromJSON,
  SubmissionRejectedEventToJSON,
  SubmissionToJSON,
  type CampaignPlanInput,
} from "./client/index.js";

const { BASE_URL: basePath = "", READING_KEY = "", PLANNING_KEY = "", REQUEST_ID = "", EVENTS = "" } = process.env;
const withKey = (accessToken: string) => new Configuration({ basePath, accessToken });
const reader = new RecordsApi(withKey(READING_KEY));

interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor?: string;
}

async function readAll<T>(list: (cursor?: string) => Promise<Page<T>>, toJson: (record: T) => unknown): Promise<unknown[]> {
  const found: unknown[] = [];
  let cursor: string | undefined;
  do {
    const read = await list(cursor);
    found.push(...read.data.map((record) => toJson(record)));
    cursor = read.nextCursor;
  } while (cursor !== undefined);
  return found;
}

const limit = 20;
const records = {
  campaigns: await readAll((cursor) => reader.listCampaigns({ limit, cursor }), CampaignToJSON),
  submissions: await readAll((cursor) => reader.listSubmissions({ limit, cursor }), SubmissionToJSON),
  payouts: await readAll((cursor) => reader.listPayouts({ limit, cursor }), PayoutToJSON),
  deposits: await readAll((cursor) => reader.listDeposits({ limit, cursor }), DepositToJSON),
  conversions: await readAll((cursor) => reader.listConversions({ limit, cursor }), ConversionToJSON),
  links: await readAll((cursor) => reader.listLinks({ limit, cursor }), LinkToJSON),
};

const again = {
  "submission.approved": (event: unknown) => SubmissionApprovedEventToJSON(SubmissionApprovedEventFromJSON(event)) as unknown,
  "submission.rejected": (event: unknown) => SubmissionRejectedEventToJSON(SubmissionRejectedEventFromJSON(event)) as unknown,
  "payout.paid": (event: unknown) => PayoutPaidEventToJSON(PayoutPaidEventFromJSON(event)) as unknown,
  "campaign.settled": (event: unknown) => CampaignSettledEventToJSON(CampaignSettledEventFromJSON(event)) as unknown,
};
const events = readFileSync(EVENTS, "utf8")
  .split("\n")
  .map((line) => JSON.parse(line) as { readonly type: keyof typeof again })
  .map((event) => again[event.type](event));

const refused = [];
for (const { key, cursor } of [{ key: READING_KEY, cursor: "x".repeat(40) }, { key: "none" }]) {
  try {
    await new RecordsApi(withKey(key)).listPayouts({ cursor });
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    refused.push({ status: error.response.status, code: ModelErrorFromJSON(await error.response.json()).error.code });
  }
}

const campaignPlanInput: CampaignPlanInput = {
  requestId: REQUEST_ID,
  title: "Tag-ulan",
  goal: "500,000 views",
  campaignType: CampaignPlanInputCampaignTypeEnum.Blitz,
  plannedFor: new Date("2026-12-01"),
  reviewOn: new Date("2026-12-15"),
  planningBudget: 1234567.89,
};
const planner = new CampaignPlansApi(withKey(PLANNING_KEY));
const budgets = [];
for (let attempt = 1; attempt <= 2; attempt += 1) {
  const response = await planner.prepareCampaignPlanRaw({ campaignPlanInput });
  budgets.push({ status: response.raw.status, planning_budget: (await response.value()).planningBudget });
}

const rpcMessage = { jsonrpc: RpcMessageJsonrpcEnum._20, id: 7, method: "ping" };
const pong = await new AssistantsApi(withKey(READING_KEY)).postAssistantMessage({ rpcMessage });

console.log(JSON.stringify({ records, events, refused, budgets, ponged: pong?.id }));
