// What every runtime must do with the packed client. Returns its results as JSON.
import { BrandRecords, BrandRecordsError, isKnownEvent, verifyDelivery } from "@brand-records/client";
import { receiveEvents } from "@brand-records/client/fetch";
import { signDelivery } from "@brand-records/client/signing";

const failure = (promise) =>
  promise.then(
    () => "resolved",
    (error) => (error instanceof BrandRecordsError ? error.code : (error.code ?? error.message ?? String(error))),
  );

export async function smoke({ URL: url, KEY: key, BRAND: expectBrand, SECRET: secret }) {
  const retries = [];
  const records = new BrandRecords({ url, key, expectBrand, onRetry: ({ error }) => retries.push(error.code) });
  let payouts = 0;
  for await (const { amount_centavos } of records.payouts({}, { limit: 2 })) payouts += Number.isSafeInteger(amount_centavos);
  const copied = new Set();
  const store = {
    load: () => ({ brandId: undefined, progress: undefined }),
    writePage: ({ resource, records }) => records.forEach(({ id }) => copied.add(`${resource}/${id}`)),
    finishWalk: () => undefined,
  };
  await records.sync(store);
  const { request_id, title } = await records.prepareCampaignPlan({
    ...{ title: "Smoke", goal: "A plan", campaign_type: "blitz" },
    ...{ planned_for: "2026-12-01", review_on: "2026-12-15", planning_budget: 75_000.5 },
  });
  const body = JSON.stringify({ id: "evt_1", type: "payout.paid", data: { id: "po_1" } });
  const headers = await signDelivery(body, secret);
  const receive = receiveEvents({ secrets: secret }, () => undefined);
  const deliver = async (body) => (await receive(new Request("https://hooks.example/", { method: "POST", headers, body }))).status;
  const stalled = new BrandRecords({ url: `${url}/stall`, key, timeoutMs: 100, deadlineMs: 200 });
  return {
    ...{ payouts, copied: copied.size, retries: [...new Set(retries)], planned: [request_id.length, title] },
    verified: isKnownEvent(await verifyDelivery(new TextEncoder().encode(body), new Headers(headers), secret)),
    refused: await failure(verifyDelivery(`${body} `, headers, secret)),
    statuses: [await deliver(body), await deliver(`${body} `)],
    errors: [
      await failure(records.payouts({ status: "lost" }).page()),
      await failure(new BrandRecords({ url, key, expectBrand: "brd_other" }).payouts().page()),
      await failure(records.payouts({}, { signal: AbortSignal.abort(new Error("enough")) }).page()),
      await failure(stalled.payouts().page()),
    ],
  };
}
