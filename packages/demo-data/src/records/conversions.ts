import { formatInstant, type RecordOf } from "@brand-records/resources";
import { idAt } from "../ids.ts";
import { RETURN_WINDOW } from "../plan/campaign-plan.ts";
import { Random } from "../random.ts";
import { DAY } from "../timeline.ts";
import type { BrandHistory } from "../brand-history.ts";

const REVERSALS = ["returned", "fraud", "duplicate", "order_error"] as const;
const REVERSAL_WEIGHTS = [68, 9, 11, 12];
/** Reversals before a parcel can have been returned. */
const EARLY_REVERSAL_WEIGHTS = [0, 20, 35, 45];
const PARCEL_ROUND_TRIP = 3 * DAY;

export function* conversionRecords(history: BrandHistory): Generator<RecordOf<"conversions">> {
  const { context, conversions, payouts, creators } = history;
  const idStream = context.stream("conversion id");
  const stream = context.stream("conversion record");
  for (let index = 0; index < context.sizes.conversions; index += 1) {
    const facts = conversions.facts(index);
    const { createdAt, status } = facts;
    const { link, payout } = payouts.placeConversion(index, facts);
    const { amount, commission, occurredAt } = conversions.order(index, facts, link);
    const paidBy = payouts.all[payout];
    const random = new Random(stream, index);
    const reversedAt = createdAt + random.below(Math.min(RETURN_WINDOW, context.now - createdAt));
    const decidedAt = status === "pending" ? createdAt : status === "approved" ? createdAt + RETURN_WINDOW : reversedAt;
    const reversalWeights = reversedAt - createdAt < PARCEL_ROUND_TRIP ? EARLY_REVERSAL_WEIGHTS : REVERSAL_WEIGHTS;
    yield {
      id: idAt("cnv", createdAt, idStream, index),
      created_at: formatInstant(createdAt),
      updated_at: formatInstant(paidBy?.createdAt ?? decidedAt),
      campaign_id: link.campaign.id,
      link_id: link.id,
      creator_id: creators.ids[link.creator] ?? "",
      payout_id: paidBy?.id ?? null,
      status,
      external_id: `${context.catalog.orderPrefix}-${String(1_000_000 + index)}`,
      order_amount_centavos: amount,
      commission_centavos: commission,
      currency: "PHP",
      occurred_at: formatInstant(occurredAt),
      reversal_code: status === "reversed" ? random.pickWeighted(REVERSALS, reversalWeights) : null,
    };
  }
}
