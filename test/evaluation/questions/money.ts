import { countBy, isWithin, OCTOBER, sum, type AnsweredQuestion } from "../question.ts";
import { ENDED_CLIPS, PAUSED_LINKS } from "../titles.ts";

const THIS_YEAR = "2026-01-01T00:00:00+08:00";

export const PAYOUT_QUESTIONS: readonly AnsweredQuestion[] = [
  {
    question: "Which payouts failed, and why?",
    callsMax: 1,
    truth: () => ({
      sql: "select failure_code, count(*)::int as count from records.payouts where brand_id = $1 and status = 'failed' group by 1 order by 1",
    }),
    async answer(assistant) {
      const failed = await assistant.list("payouts", { status: "failed" });
      return countBy(
        "failure_code",
        failed.map(({ failure_code }) => failure_code),
      );
    },
  },
  {
    question: "How much money is on its way to creators?",
    callsMax: 2,
    truth: () => ({
      sql: "select sum(amount_centavos)::bigint as centavos from records.payouts where brand_id = $1 and status in ('pending', 'processing')",
    }),
    async answer(assistant) {
      const pending = await assistant.list("payouts", { status: "pending" });
      const processing = await assistant.list("payouts", { status: "processing" });
      return [{ centavos: sum([...pending, ...processing].map(({ amount_centavos }) => amount_centavos)) }];
    },
  },
  {
    question: "How much was paid to creators in October?",
    callsMax: 5,
    truth: () => ({
      sql: `select sum(amount_centavos)::bigint as centavos from records.payouts
             where brand_id = $1 and status = 'paid' and paid_at >= $2 and paid_at < $3`,
      values: [OCTOBER.created_from, OCTOBER.created_before],
    }),
    async answer(assistant) {
      const range = { created_from: "2026-09-01T00:00:00+08:00", created_before: OCTOBER.created_before };
      const paid = await assistant.list("payouts", { status: "paid", ...range });
      return [{ centavos: sum(paid.filter(({ paid_at }) => isWithin(OCTOBER, paid_at)).map(({ amount_centavos }) => amount_centavos)) }];
    },
  },
  {
    question: "An event names a payout: how much was it, for how many submissions, and when was it paid?",
    callsMax: 1,
    truth: ({ payout }) => ({
      sql: "select status, amount_centavos, submission_count, paid_at from records.payouts where brand_id = $1 and id = $2",
      values: [payout],
    }),
    async answer(assistant, { payout }) {
      const found = await assistant.list("payouts", { id: payout });
      return found.map(({ status, amount_centavos, submission_count, paid_at }) => ({
        status,
        amount_centavos,
        submission_count,
        paid_at,
      }));
    },
  },
  {
    question: `What fees came on top of what creators got in "${ENDED_CLIPS}"?`,
    callsMax: 2,
    truth: () => ({
      sql: `select sum(fee_centavos)::bigint as centavos from records.payouts p
              join records.campaigns c on (c.brand_id, c.id) = (p.brand_id, p.campaign_id)
             where p.brand_id = $1 and c.title = $2 and p.status = 'paid'`,
      values: [ENDED_CLIPS],
    }),
    async answer(assistant) {
      const { id } = await assistant.campaign(ENDED_CLIPS);
      const paid = await assistant.list("payouts", { campaign_id: id, status: "paid" });
      return [{ centavos: sum(paid.map(({ fee_centavos }) => fee_centavos)) }];
    },
  },
];

export const DEPOSIT_QUESTIONS: readonly AnsweredQuestion[] = [
  {
    question: `What did we pay in for "${PAUSED_LINKS}", less refunds?`,
    callsMax: 2,
    truth: () => ({
      sql: `select sum(amount_centavos - refunded_centavos)::bigint as centavos from records.deposits d
              join records.campaigns c on (c.brand_id, c.id) = (d.brand_id, d.campaign_id)
             where d.brand_id = $1 and c.title = $2 and d.status in ('succeeded', 'refunded')`,
      values: [PAUSED_LINKS],
    }),
    async answer(assistant) {
      const { id } = await assistant.campaign(PAUSED_LINKS);
      const deposits = await assistant.list("deposits", { campaign_id: id });
      const received = deposits.filter(({ status }) => status === "succeeded" || status === "refunded");
      return [{ centavos: sum(received.map(({ amount_centavos, refunded_centavos }) => amount_centavos - refunded_centavos)) }];
    },
  },
  {
    question: "Which deposits failed or expired this year?",
    callsMax: 2,
    truth: () => ({
      sql: `select id from records.deposits where brand_id = $1 and status in ('failed', 'expired') and created_at >= $2 order by id`,
      values: [THIS_YEAR],
    }),
    async answer(assistant) {
      const failed = await assistant.list("deposits", { status: "failed", created_from: THIS_YEAR });
      const expired = await assistant.list("deposits", { status: "expired", created_from: THIS_YEAR });
      return [...failed, ...expired].map(({ id }) => ({ id })).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },
  },
  {
    question: "How much was refunded to us, and from how many deposits?",
    callsMax: 1,
    truth: () => ({
      sql: `select sum(refunded_centavos)::bigint as centavos, count(*)::int as deposits
              from records.deposits where brand_id = $1 and refunded_centavos > 0`,
    }),
    async answer(assistant) {
      const refunded = (await assistant.list("deposits")).filter(({ refunded_centavos }) => refunded_centavos > 0);
      return [{ centavos: sum(refunded.map(({ refunded_centavos }) => refunded_centavos)), deposits: refunded.length }];
    },
  },
];
