import { type AnsweredQuestion, AROUND_OCTOBER, from, groupsOf, meanHours, monthOf } from "../question.ts";
import { NOVEMBER, OCTOBER, RULES, SEPTEMBER, sortedBy, sumOf, within } from "../question.ts";
import { REVERSED_APART } from "./money.ts";

const VIEWS = "views: so far, null until measured.";
const FOUR_WEEKS_AGO = "2026-10-26T18:34:00+08:00";
const monthSql = (column: string): string => `to_char(${column} at time zone 'Asia/Manila', 'YYYY-MM') as month`;

/** What a monthly report asks: how long work takes, how months, creators and platforms compare, and what needs a look. */
export const REPORT_QUESTIONS: readonly AnsweredQuestion[] = [
  {
    question: "How long did the reviews of October take, on average?",
    budget: { demo: [2, 22_000] },
    rules: [RULES.days, RULES.weekEarlier],
    meanings: ["compare reviewed_at; any pending one may still be reviewed"],
    truth: `select round(avg(extract(epoch from reviewed_at - submitted_at)) / 3600)::int as hours from records.submissions
             where brand_id = $1 and reviewed_at >= '${OCTOBER}' and reviewed_at < '${NOVEMBER}'`,
    async answer(assistant) {
      const submissions = await assistant.list("submissions", AROUND_OCTOBER, ["submitted_at", "reviewed_at"]);
      const reviewed = submissions.filter(within("reviewed_at", OCTOBER, NOVEMBER));
      return [{ hours: meanHours(reviewed, ["submitted_at", "reviewed_at"]) }];
    },
  },
  {
    question: "How long did it take from approval to payment, for what was approved in October?",
    budget: { demo: [3, 26_000] },
    rules: [RULES.days, RULES.weekEarlier],
    meanings: ["payout_id, reviewed_at: null until then", "paid_at: null until paid"],
    truth: `select count(*)::int as approved, count(paid_at)::int as paid,
                   round(avg(extract(epoch from paid_at - reviewed_at)) / 86400)::int as days
              from records.submissions s left join records.payouts p on (p.brand_id, p.id, p.status) = (s.brand_id, s.payout_id, 'paid')
             where s.brand_id = $1 and s.status = 'approved' and reviewed_at >= '${OCTOBER}' and reviewed_at < '${NOVEMBER}'`,
    async answer(assistant) {
      const submissions = await assistant.list("submissions", { status: "approved", ...AROUND_OCTOBER }, ["reviewed_at", "payout_id"]);
      // A payout is created after what it pays for was approved.
      const payouts = await assistant.list("payouts", { status: "paid", created_from: OCTOBER }, ["paid_at"]);
      const paidAt = new Map(payouts.map(({ id, paid_at }) => [id, paid_at]));
      const approved = submissions.filter(within("reviewed_at", OCTOBER, NOVEMBER));
      const paid = approved
        .map(({ reviewed_at, payout_id }) => ({ reviewed_at, paid_at: paidAt.get(payout_id ?? "") ?? null }))
        .filter(({ paid_at }) => paid_at !== null);
      return [{ approved: approved.length, paid: paid.length, days: meanHours(paid, ["reviewed_at", "paid_at"], 24) }];
    },
  },
  {
    question: "How long did campaigns take from their end until every payout was final?",
    budget: { demo: [1, 700], large: [1, 13_000] },
    rules: [],
    meanings: ["settled: all final"],
    truth: `select round(avg(extract(epoch from settled_at - ends_at)) / 86400)::int as days
              from records.campaigns where brand_id = $1 and status = 'settled'`,
    async answer(assistant) {
      const settled = await assistant.list("campaigns", { status: "settled" }, ["ends_at", "settled_at"]);
      return [{ days: meanHours(settled, ["ends_at", "settled_at"], 24) }];
    },
  },
  {
    question: "Did more submissions come in in October than in September, and was a larger share approved?",
    budget: { demo: [3, 27_000] },
    rules: [RULES.days],
    meanings: ["approval rates"],
    truth: `select ${monthSql("created_at")}, count(*)::int as submissions, round(100.0 * count(*) filter (where status = 'approved')
                   / count(*) filter (where status in ('approved', 'rejected')))::int as percent
              from records.submissions where brand_id = $1 and created_at >= '${SEPTEMBER}' and created_at < '${NOVEMBER}'
             group by 1 order by 1`,
    async answer(assistant) {
      const range = { created_from: SEPTEMBER, created_before: NOVEMBER };
      const submissions = await assistant.list("submissions", range, ["created_at", "status"]);
      return groupsOf(submissions, ({ created_at }) => monthOf(created_at)).map(([month, all]) => {
        const approved = all.filter(({ status }) => status === "approved").length;
        const reviewed = approved + all.filter(({ status }) => status === "rejected").length;
        return { month, submissions: all.length, percent: Math.round((100 * approved) / reviewed) };
      });
    },
  },
  {
    question: "How does what creators were paid in October compare with September?",
    budget: { demo: [2, 12_000] },
    rules: [RULES.days, RULES.weekEarlier, RULES.money],
    meanings: [REVERSED_APART],
    truth: `select ${monthSql("paid_at")}, sum(amount_centavos)::bigint as centavos from records.payouts
             where brand_id = $1 and status = 'paid' and paid_at >= '${SEPTEMBER}' and paid_at < '${NOVEMBER}' group by 1 order by 1`,
    async answer(assistant) {
      const range = { created_from: from("2026-08-25"), created_before: NOVEMBER };
      const payouts = await assistant.list("payouts", { status: "paid", ...range }, ["amount_centavos", "paid_at"]);
      const paid = payouts.filter(within("paid_at", SEPTEMBER, NOVEMBER));
      const months = groupsOf(paid, ({ paid_at }) => monthOf(paid_at ?? ""));
      return months.map(([month, all]) => ({ month, centavos: sumOf(all, "amount_centavos") }));
    },
  },
  {
    question: "Which five creators were paid most since October?",
    budget: { demo: [2, 23_000] },
    rules: [RULES.days, RULES.weekEarlier, RULES.money],
    meanings: [REVERSED_APART],
    truth: `select creator_id, sum(amount_centavos)::bigint as centavos from records.payouts
             where brand_id = $1 and status = 'paid' and paid_at >= '${OCTOBER}' group by 1 order by 2 desc, 1 limit 5`,
    async answer(assistant) {
      const filters = { status: "paid", created_from: AROUND_OCTOBER.created_from };
      const payouts = await assistant.list("payouts", filters, ["creator_id", "amount_centavos", "paid_at"]);
      const creators = groupsOf(payouts.filter(within("paid_at", OCTOBER)), ({ creator_id }) => creator_id);
      const sums = creators.map(([creator_id, all]) => ({ creator_id, centavos: sumOf(all, "amount_centavos") }));
      return sums.toSorted((a, b) => b.centavos - a.centavos).slice(0, 5);
    },
  },
  {
    question: "What has one creator brought us so far, and what did we pay for it?",
    budget: { demo: [3, 3_500], large: [4, 13_000] },
    rules: [RULES.money],
    meanings: ["a creator_id may have several: add them up", VIEWS, REVERSED_APART],
    about: "creator",
    truth: `select count(*)::int as approved, coalesce(sum(views), 0)::bigint as views,
                   (select sum(conversions) from records.links where brand_id = $1 and creator_id = $2)::bigint as orders,
                   (select sum(amount_centavos) from records.payouts where brand_id = $1 and creator_id = $2 and status = 'paid')::bigint as centavos
              from records.submissions where brand_id = $1 and creator_id = $2 and status = 'approved'`,
    async answer(assistant, creator_id) {
      const approved = await assistant.list("submissions", { creator_id, status: "approved" }, ["views"]);
      const orders = sumOf(await assistant.list("links", { creator_id }, ["conversions"]), "conversions");
      const paid = await assistant.list("payouts", { creator_id, status: "paid" }, ["amount_centavos"]);
      return [{ approved: approved.length, views: sumOf(approved, "views"), orders, centavos: sumOf(paid, "amount_centavos") }];
    },
  },
  {
    question: "Which platform works best, by the views of what was approved since September?",
    budget: { demo: [2, 14_000] },
    rules: [RULES.days],
    meanings: ["how content or platforms perform", VIEWS],
    truth: `select platform, round(avg(views))::int as views from records.submissions
             where brand_id = $1 and status = 'approved' and created_at >= '${SEPTEMBER}' and views is not null group by 1 order by 1`,
    async answer(assistant) {
      const approved = await assistant.list("submissions", { status: "approved", created_from: SEPTEMBER }, ["platform", "views"]);
      const measured = approved.filter(({ views }) => views !== null);
      const platforms = groupsOf(measured, ({ platform }) => platform);
      return platforms.map(([platform, all]) => ({ platform, views: Math.round(sumOf(all, "views") / all.length) }));
    },
  },
  {
    question: "What became of an order, by its number in our shop?",
    budget: { demo: [1, 100], large: [1, 100] },
    rules: [RULES.money],
    meanings: ["Only this order number"],
    about: "order",
    truth: "select id, status, order_amount_centavos, reversal_code from records.conversions where brand_id = $1 and external_id = $2",
    answer: (assistant, external_id) =>
      assistant.list("conversions", { external_id }, ["status", "order_amount_centavos", "reversal_code"]),
  },
  {
    question: "How much is still under way to creators in each campaign that is over but not settled?",
    budget: { demo: [3, 700], large: [3, 16_000] },
    rules: [RULES.money],
    meanings: ["ended: over, payouts open; settled: all final", "is under way (pending, processing)"],
    truth: `select c.id, coalesce(sum(amount_centavos), 0)::bigint as centavos from records.campaigns c
              left join records.payouts p on (p.brand_id, p.campaign_id) = (c.brand_id, c.id) and p.status in ('pending', 'processing')
             where c.brand_id = $1 and c.status = 'ended' group by 1 order by 1`,
    async answer(assistant) {
      const ended = await assistant.list("campaigns", { status: "ended" }, ["title"]);
      const pending = await assistant.list("payouts", { status: "pending" }, ["campaign_id", "amount_centavos"]);
      const processing = await assistant.list("payouts", { status: "processing" }, ["campaign_id", "amount_centavos"]);
      const open = Map.groupBy([...pending, ...processing], ({ campaign_id }) => campaign_id);
      return sortedBy(ended, "id").map(({ id }) => ({ id, centavos: sumOf(open.get(id) ?? [], "amount_centavos") }));
    },
  },
  {
    question: "How many payouts failed this month, for certain and at most?",
    budget: { demo: [1, 3_000], large: [3, 39_000] },
    rules: [RULES.days, RULES.today, RULES.status],
    truth: `select count(*) filter (where created_at >= '${NOVEMBER}')::int as certain, count(*)::int as most
              from records.payouts where brand_id = $1 and status = 'failed' and updated_at >= '${NOVEMBER}'`,
    async answer(assistant) {
      const failed = await assistant.list("payouts", { status: "failed" }, ["created_at", "updated_at"]);
      const most = failed.filter(within("updated_at", NOVEMBER));
      return [{ certain: most.filter(within("created_at", NOVEMBER)).length, most: most.length }];
    },
  },
  {
    question: "Which active links have stopped: nothing new for four weeks?",
    budget: { demo: [1, 7_000] },
    rules: [RULES.today, RULES.status],
    truth: `select id from records.links where brand_id = $1 and status = 'active' and updated_at < '${FOUR_WEEKS_AGO}' order by id`,
    async answer(assistant) {
      const links = await assistant.list("links", { status: "active" }, ["updated_at"]);
      const stopped = links.filter(within("updated_at", from("2000-01-01"), FOUR_WEEKS_AGO));
      return sortedBy(stopped, "id").map(({ id }) => ({ id }));
    },
  },
  {
    question: "Export the payouts of October: creator, status, amount, fee, day.",
    budget: { demo: [1, 16_000] },
    rules: [RULES.days, RULES.weekEarlier, RULES.money],
    meanings: [REVERSED_APART, "fee_centavos comes on top"],
    truth: `select id, creator_id, status, amount_centavos, fee_centavos, paid_at from records.payouts
             where brand_id = $1 and paid_at >= '${OCTOBER}' and paid_at < '${NOVEMBER}' order by id`,
    async answer(assistant) {
      const payouts = await assistant.list("payouts", AROUND_OCTOBER, [
        "creator_id",
        "status",
        "amount_centavos",
        "fee_centavos",
        "paid_at",
      ]);
      return sortedBy(payouts.filter(within("paid_at", OCTOBER, NOVEMBER)), "id");
    },
  },
];
