// Compiled against the packed client, as strictly as a compiler can be.
import {
  BrandRecords,
  BrandRecordsError,
  isKnownEvent,
  verifyDelivery,
  type CampaignType,
  type Payout,
  type PayoutStatus,
  type SyncStore,
} from "@brand-records/client";
import { receiveEvents as express } from "@brand-records/client/express";
import { receiveEvents as fetchHandler } from "@brand-records/client/fetch";
import { receiveEvents as hono } from "@brand-records/client/hono";
import { signDelivery } from "@brand-records/client/signing";

export const records = new BrandRecords({ url: "https://records.example", key: "brk_live_x" });
export const first: Promise<Payout | undefined> = records
  .payouts({ status: "paid", created_from: new Date() })
  .page()
  .then(({ data }) => data[0]);
// @ts-expect-error there is no such status
export const mistyped = records.payouts({ status: "piad" });
// @ts-expect-error there is no such status
export const alsoMistyped: PayoutStatus = "piad";
export const known: readonly PayoutStatus[] = ["paid", "reversed"];
export const type: CampaignType = "blitz";
/** One that a later version of the service adds can be read. */
export const words = ({ status }: Payout): string => {
  switch (status) {
    case "paid":
      return "paid out";
    case "a status of a later version":
      return "new";
    default:
      return status;
  }
};
export const orders = records.conversions({ external_id: "ORDER-10294" });
// @ts-expect-error links have no link_id filter
export const wrong = records.links({ link_id: "lnk_1" });
export const centavos = async (): Promise<number> => (await first)?.amount_centavos ?? 0;

export async function amountOf(body: string, headers: Headers): Promise<number> {
  const event = await verifyDelivery(body, headers, "whsec_x");
  if (!isKnownEvent(event)) return 0;
  switch (event.type) {
    case "payout.paid":
      return event.data.amount_centavos;
    case "campaign.settled":
      return event.data.paid_centavos;
    case "submission.approved":
    case "submission.rejected":
      return event.data.earned_centavos;
  }
}

export const isLimit = (error: unknown): boolean => error instanceof BrandRecordsError && error.code === "rate_limited";
export const receivers = [
  express({ secrets: "x", types: ["payout.paid"] }, (event) => void event.data.paid_at),
  hono({ secrets: (c) => c.env.WEBHOOK_SECRET, types: ["campaign.settled"] }, (event) => void event.data.settled_at),
  fetchHandler({ secrets: (_, env: { SECRET: string }) => env.SECRET }, async (event, _, env) => void [event.type, env.SECRET]),
];
export const signed: Promise<Record<string, string>> = signDelivery("{}", "whsec_x", { id: "evt_1", type: "payout.paid" });
export const sync = (store: SyncStore): Promise<{ readonly startedAt: string }> => records.sync(store, { share: 0.25 });
