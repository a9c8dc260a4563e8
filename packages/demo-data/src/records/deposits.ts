import { formatInstant, type RecordOf } from "@brand-records/resources";
import { idAt } from "../ids.ts";
import { DEPOSIT_STEP } from "../ledger.ts";
import type { PlannedDeposit } from "../plan/deposit-plan.ts";
import { Random } from "../random.ts";
import { HOUR, SECOND } from "../timeline.ts";
import type { BrandHistory } from "../brand-history.ts";

const METHODS = ["gcash", "maya", "qrph", "card", "bank_transfer"] as const;
const METHOD_WEIGHTS = [38, 17, 15, 8, 22];
/** The largest payment by wallet or card. */
const WALLET_CENTAVOS_MAX = 10_000_000;

export function* depositRecords(history: BrandHistory): Generator<RecordOf<"deposits">> {
  const { context, deposits } = history;
  const idStream = context.stream("deposit id");
  const stream = context.stream("deposit record");
  const done = new Int32Array(context.sizes.campaigns);
  for (let index = 0; index < context.sizes.deposits; index += 1) {
    const planned = deposits.plan(index);
    const { campaign, status, createdAt } = planned;
    const random = new Random(stream, index);
    const { amount, refunded } = amountsOf(planned, history, done, random);
    const method = amount > WALLET_CENTAVOS_MAX ? "bank_transfer" : random.pickWeighted(METHODS, METHOD_WEIGHTS);
    const arrived = status === "succeeded" || status === "refunded";
    const takes = method === "bank_transfer" ? random.between(HOUR, 20 * HOUR) : random.between(4 * SECOND, 120 * SECOND);
    const creditedAt = arrived ? Math.min(context.now, createdAt + takes) : null;
    const closedAt = Math.min(context.now, createdAt + (status === "pending" ? 0 : HOUR));
    yield {
      id: idAt("dep", createdAt, idStream, index),
      created_at: formatInstant(createdAt),
      updated_at: formatInstant(creditedAt ?? closedAt),
      campaign_id: campaign?.id ?? null,
      status,
      amount_centavos: amount,
      refunded_centavos: refunded,
      currency: "PHP",
      method,
      reference: arrived || random.chance(0.5) ? `${method.slice(0, 2).toUpperCase()}${String(random.bits()).padStart(10, "0")}` : null,
      credited_at: creditedAt === null ? null : formatInstant(creditedAt),
    };
  }
}

/** A campaign's succeeded deposits, less refunds, are its budget. `done` counts those made so far, by campaign. */
function amountsOf({ campaign, status }: PlannedDeposit, { ledger }: BrandHistory, done: Int32Array, random: Random) {
  const round = random.between(2, 40) * 250_000;
  if (status === "refunded") return { amount: round, refunded: round };
  if (campaign === null || status !== "succeeded") return { amount: round, refunded: 0 };
  const budget = ledger.campaignBudget[campaign.index] ?? 0;
  const parts = ledger.campaignDeposits[campaign.index] ?? 1;
  const part = (done[campaign.index] ?? 0) + 1;
  done[campaign.index] = part;
  const each = Math.floor(budget / parts / DEPOSIT_STEP) * DEPOSIT_STEP;
  const share = part === parts ? budget - each * (parts - 1) : each;
  const excess = random.chance(0.06) ? random.between(1, 20) * 50_000 : 0;
  return { amount: share + excess, refunded: excess };
}
