// Drives @brand-records/client: what Ask in drivers.ts says.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { BrandRecords, BrandRecordsError, DeliveryError, verifyDelivery } from "@brand-records/client";

const ask = JSON.parse(process.argv[2]);
const [ids, retries] = [[], []];
let keysRead = 0;
const open = () =>
  new BrandRecords({
    url: ask.url,
    key: ask.keys.length === 1 ? ask.keys[0] : () => ask.keys[Math.min(keysRead++, ask.keys.length - 1)],
    expectBrand: ask.expect_brand,
    timeoutMs: ask.timeout_ms,
    deadlineMs: ask.deadline_ms,
    onRetry: ({ delayMs, attempts }) => retries.push({ delay_ms: delayMs, attempts }),
  });

const ACTIONS = {
  async list() {
    for await (const { id } of open().list(ask.resource, ask.filters, { limit: ask.limit })) ids.push(id);
  },
  async prepare() {
    return { plan_id: (await open().prepareCampaignPlan(ask.plan)).plan_id };
  },
  async verify() {
    const headers = {};
    for (const [name, value] of ask.headers) (headers[name] ??= []).push(value);
    return { event_id: (await verifyDelivery(Buffer.from(ask.body_base64, "base64"), headers, ask.secrets, { now: ask.now })).id };
  },
  async sync() {
    const load = () => (existsSync(ask.db) ? JSON.parse(readFileSync(ask.db, "utf8")) : {});
    const store = {
      load,
      writePage: ({ brandId, progress }) => writeFileSync(ask.db, JSON.stringify({ brandId, progress })),
      finishWalk: () => writeFileSync(ask.db, JSON.stringify({ brandId: load().brandId })),
    };
    const onPage = ({ records }) => ids.push(...records.map(({ id }) => id));
    await open().sync(store, { onPage, deadlineMs: ask.deadline_ms });
  },
};

const { error = null, ...done } = (await ACTIONS[ask.action]().catch((error) => ({ error: told(error) }))) ?? {};
console.log(JSON.stringify({ ids, ...done, error, retries }));

function told(error) {
  const { code, message } = error;
  if (error instanceof DeliveryError) return { code, message };
  if (!(error instanceof BrandRecordsError)) throw error;
  const { status, attempts, field, requestId: request_id, planRequestId: plan_request_id, retryAfter: retry_after } = error;
  return { code, status, attempts, field, request_id, plan_request_id, retry_after, message };
}
