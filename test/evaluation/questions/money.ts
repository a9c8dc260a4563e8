import { type AnsweredQuestion, AROUND_OCTOBER, CAMPAIGN, CLIPS, countBy, from, LINKS } from "../question.ts";
import { NOVEMBER, OCTOBER, RULES, sortedBy, sumOf, within } from "../question.ts";

const THIS_YEAR = from("2026-01-01");
export const REVERSED_APART = "reversed was paid, at paid_at, and came back: show it apart";

export const PAYOUT_QUESTIONS: readonly AnsweredQuestion[] = [
  {
    question: "Which payouts failed, and why?",
    budget: { demo: [1, 1_400], large: [3, 19_000] },
    rules: [],
    meanings: ["failed and why"],
    truth:
      "select failure_code, count(*)::int as count from records.payouts where brand_id = $1 and status = 'failed' group by 1 order by 1",
    answer: async (assistant) => countBy(await assistant.list("payouts", { status: "failed" }, ["failure_code"]), "failure_code"),
  },
  {
    question: "How much money is on its way to creators?",
    budget: { demo: [2, 400], large: [2, 8_500] },
    rules: [RULES.money],
    meanings: ["is under way (pending, processing)"],
    truth: `select sum(amount_centavos)::bigint as centavos from records.payouts
             where brand_id = $1 and status in ('pending', 'processing')`,
    async answer(assistant) {
      const pending = await assistant.list("payouts", { status: "pending" }, ["amount_centavos"]);
      const processing = await assistant.list("payouts", { status: "processing" }, ["amount_centavos"]);
      return [{ centavos: sumOf([...pending, ...processing], "amount_centavos") }];
    },
  },
  {
    question: "How much was paid to creators in October?",
    budget: { demo: [1, 9_000] },
    rules: [RULES.days, RULES.weekEarlier, RULES.money],
    meanings: [REVERSED_APART],
    truth: `select sum(amount_centavos)::bigint as centavos from records.payouts
             where brand_id = $1 and status = 'paid' and paid_at >= '${OCTOBER}' and paid_at < '${NOVEMBER}'`,
    async answer(assistant) {
      const paid = await assistant.list("payouts", { status: "paid", ...AROUND_OCTOBER }, ["amount_centavos", "paid_at"]);
      return [{ centavos: sumOf(paid.filter(within("paid_at", OCTOBER, NOVEMBER)), "amount_centavos") }];
    },
  },
  {
    question: "An event names a payout: how much was it, for how many submissions, and when was it paid?",
    budget: { demo: [1, 100], large: [1, 100] },
    rules: [RULES.money],
    meanings: ["The creator gets amount_centavos"],
    about: "payout",
    truth: "select id, status, amount_centavos, submission_count, paid_at from records.payouts where brand_id = $1 and id = $2",
    answer: (assistant, id) => assistant.list("payouts", { id }, ["status", "amount_centavos", "submission_count", "paid_at"]),
  },
  {
    question: `What fees came on top of what creators got in "${CLIPS}"?`,
    budget: { demo: [2, 2_000], large: [3, 18_000] },
    rules: [RULES.money],
    meanings: ["fee_centavos comes on top"],
    about: "clips",
    truth: `select sum(fee_centavos)::bigint as centavos from records.payouts
             where brand_id = $1 and status = 'paid' and campaign_id = ${CAMPAIGN}`,
    async answer(assistant, title) {
      const filters = { campaign_id: await assistant.campaign(title), status: "paid" };
      return [{ centavos: sumOf(await assistant.list("payouts", filters, ["fee_centavos"]), "fee_centavos") }];
    },
  },
];

export const DEPOSIT_QUESTIONS: readonly AnsweredQuestion[] = [
  {
    question: `What did we pay in for "${LINKS}", less refunds?`,
    budget: { demo: [2, 1_000], large: [3, 15_000] },
    rules: [RULES.money],
    meanings: ["Received: the amount of succeeded and refunded ones", "kept: that less refunded_centavos"],
    about: "links",
    truth: `select sum(amount_centavos - refunded_centavos)::bigint as centavos from records.deposits
             where brand_id = $1 and status in ('succeeded', 'refunded') and campaign_id = ${CAMPAIGN}`,
    async answer(assistant, title) {
      const campaign_id = await assistant.campaign(title);
      const deposits = await assistant.list("deposits", { campaign_id }, ["status", "amount_centavos", "refunded_centavos"]);
      const received = deposits.filter(({ status }) => status === "succeeded" || status === "refunded");
      return [{ centavos: sumOf(received, "amount_centavos") - sumOf(received, "refunded_centavos") }];
    },
  },
  {
    question: "Which deposits failed or expired this year?",
    budget: { demo: [2, 200], large: [2, 4_000] },
    rules: [RULES.days, RULES.today],
    truth: `select id from records.deposits
             where brand_id = $1 and status in ('failed', 'expired') and created_at >= '${THIS_YEAR}' order by id`,
    async answer(assistant) {
      const failed = await assistant.list("deposits", { status: "failed", created_from: THIS_YEAR }, ["id"]);
      const expired = await assistant.list("deposits", { status: "expired", created_from: THIS_YEAR }, ["id"]);
      return sortedBy([...failed, ...expired], "id");
    },
  },
  {
    question: "How much was refunded to us, and from how many deposits?",
    budget: { demo: [1, 2_500] },
    rules: [RULES.money],
    meanings: ["refunded_centavos, which a succeeded one may have too"],
    truth: `select sum(refunded_centavos)::bigint as centavos, count(*)::int as deposits
              from records.deposits where brand_id = $1 and refunded_centavos > 0`,
    async answer(assistant) {
      const deposits = await assistant.list("deposits", {}, ["refunded_centavos"]);
      const refunded = deposits.filter(({ refunded_centavos }) => refunded_centavos > 0);
      return [{ centavos: sumOf(refunded, "refunded_centavos"), deposits: refunded.length }];
    },
  },
];
