import { formatInstant, type RecordOf } from "@brand-records/resources";
import type { PlannedPayout } from "../plan/payout-plan.ts";
import { Random } from "../random.ts";
import { DAY, HOUR, MINUTE } from "../timeline.ts";
import type { BrandHistory } from "../brand-history.ts";

const FAILURES = ["account_invalid", "rail_unavailable", "compliance", "other"] as const;
const FAILURE_WEIGHTS = [55, 25, 12, 8];

/** PHP 15 a transfer, plus 1.5% from PHP 1,000. */
const feeOn = (amount: number): number => 1_500 + (amount < 100_000 ? 0 : Math.round(amount * 0.015));

export function* payoutRecords(history: BrandHistory): Generator<RecordOf<"payouts">> {
  const { context, payouts, ledger, creators } = history;
  const stream = context.stream("payout record");
  for (const [number, payout] of payouts.all.entries()) {
    const random = new Random(stream, number);
    const { initiatedAt, paidAt, updatedAt } = timesOf(payout, random);
    const amount = ledger.payoutAmount[number] ?? 0;
    yield {
      id: payout.id,
      created_at: formatInstant(payout.createdAt),
      updated_at: formatInstant(Math.min(updatedAt, context.now)),
      campaign_id: payout.campaign.id,
      creator_id: creators.ids[payout.creator] ?? "",
      status: payout.status,
      amount_centavos: amount,
      fee_centavos: feeOn(amount),
      currency: "PHP",
      submission_count: ledger.payoutSubmissions[number] ?? 0,
      conversion_count: ledger.payoutConversions[number] ?? 0,
      failure_code: payout.status === "failed" ? random.pickWeighted(FAILURES, FAILURE_WEIGHTS) : null,
      initiated_at: initiatedAt === null ? null : formatInstant(Math.min(initiatedAt, context.now)),
      paid_at: paidAt === null ? null : formatInstant(paidAt),
    };
  }
}

/** Only payouts older than three days are paid, and none takes longer, so no time is in the future. */
function timesOf({ status, createdAt }: PlannedPayout, random: Random) {
  const initiated = createdAt + random.between(MINUTE, HOUR);
  const settled = initiated + random.between(5 * MINUTE, 2 * DAY);
  if (status === "pending") return { initiatedAt: null, paidAt: null, updatedAt: createdAt };
  if (status === "cancelled") return { initiatedAt: null, paidAt: null, updatedAt: settled };
  if (status === "processing") return { initiatedAt: initiated, paidAt: null, updatedAt: initiated };
  if (status === "failed") return { initiatedAt: initiated, paidAt: null, updatedAt: settled };
  const updatedAt = status === "reversed" ? settled + random.between(HOUR, DAY) : settled;
  return { initiatedAt: initiated, paidAt: settled, updatedAt };
}
