import { type AnsweredQuestion, CAMPAIGN, countBy, from, LINKS, NOVEMBER, OCTOBER, RULES, sumOf, within } from "../question.ts";

const [YESTERDAY, TODAY, NOW] = [from("2026-11-22"), from("2026-11-23"), "2026-11-23T18:34:00+08:00"];
const LESS_REVERSED = "conversions (orders less reversed ones)";

export const LINK_QUESTIONS: readonly AnsweredQuestion[] = [
  {
    question: `How many links does "${LINKS}" have, and how many clicks and orders did they bring?`,
    budget: { demo: [2, 3_000], large: [3, 17_000] },
    rules: [],
    meanings: ["clicks, conversions: so far.", LESS_REVERSED],
    about: "links",
    truth: `select count(*)::int as links, coalesce(sum(clicks), 0)::bigint as clicks, coalesce(sum(conversions), 0)::bigint as orders
              from records.links where brand_id = $1 and campaign_id = ${CAMPAIGN}`,
    async answer(assistant, title) {
      const links = await assistant.list("links", { campaign_id: await assistant.campaign(title) }, ["clicks", "conversions"]);
      return [{ links: links.length, clicks: sumOf(links, "clicks"), orders: sumOf(links, "conversions") }];
    },
  },
  {
    question: "Which five links brought the most orders?",
    budget: { demo: [2, 11_000] },
    rules: [],
    meanings: [LESS_REVERSED],
    truth: "select id, conversions from records.links where brand_id = $1 order by conversions desc, id limit 5",
    async answer(assistant) {
      const links = await assistant.list("links", {}, ["conversions"]);
      return links.toSorted((a, b) => b.conversions - a.conversions || (a.id < b.id ? -1 : 1)).slice(0, 5);
    },
  },
];

const PLACED = "occurred_at, when placed, comes before created_at";

export const ORDER_QUESTIONS: readonly AnsweredQuestion[] = [
  {
    question: "How many orders did one link bring in October, and what were they worth?",
    budget: { demo: [1, 6_000], large: [1, 6_000] },
    rules: [RULES.days, RULES.dayLater, RULES.money],
    meanings: [PLACED],
    about: "link",
    truth: `select count(*)::int as orders, sum(order_amount_centavos)::bigint as centavos from records.conversions
             where brand_id = $1 and link_id = $2 and occurred_at >= '${OCTOBER}' and occurred_at < '${NOVEMBER}'`,
    async answer(assistant, link_id) {
      const filters = { link_id, created_from: OCTOBER, created_before: from("2026-11-02") };
      const found = await assistant.list("conversions", filters, ["order_amount_centavos", "occurred_at"]);
      const orders = found.filter(within("occurred_at", OCTOBER, NOVEMBER));
      return [{ orders: orders.length, centavos: sumOf(orders, "order_amount_centavos") }];
    },
  },
  {
    question: "How many orders were placed yesterday?",
    budget: { demo: [3, 21_000] },
    rules: [RULES.days, RULES.today, RULES.dayLater],
    meanings: [PLACED],
    truth: `select count(*)::int as orders from records.conversions
             where brand_id = $1 and occurred_at >= '${YESTERDAY}' and occurred_at < '${TODAY}'`,
    async answer(assistant) {
      const found = await assistant.list("conversions", { created_from: YESTERDAY, created_before: NOW }, ["occurred_at"]);
      return [{ orders: found.filter(within("occurred_at", YESTERDAY, TODAY)).length }];
    },
  },
  {
    question: `How many orders of November through "${LINKS}" are reversed, and why?`,
    budget: { demo: [2, 3_000], large: [3, 19_000] },
    rules: [RULES.days],
    meanings: [PLACED],
    about: "links",
    truth: `select reversal_code, count(*)::int as count from records.conversions
             where brand_id = $1 and campaign_id = ${CAMPAIGN} and status = 'reversed' and occurred_at >= '${NOVEMBER}'
             group by 1 order by 1`,
    async answer(assistant, title) {
      const filters = { campaign_id: await assistant.campaign(title), status: "reversed", created_from: NOVEMBER };
      const found = await assistant.list("conversions", filters, ["reversal_code", "occurred_at"]);
      return countBy(found.filter(within("occurred_at", NOVEMBER)), "reversal_code");
    },
  },
  {
    question: "Which link brought one order, and is its commission paid?",
    budget: { demo: [2, 200], large: [2, 200] },
    rules: [],
    meanings: ["payout_id: null until then; its payout may still fail."],
    about: "conversion",
    truth: `select v.link_id, coalesce(p.status = 'paid', false) as paid, p.paid_at
              from records.conversions v left join records.payouts p on (p.brand_id, p.id) = (v.brand_id, v.payout_id)
             where v.brand_id = $1 and v.id = $2`,
    async answer(assistant, id) {
      const [order] = await assistant.list("conversions", { id }, ["link_id", "payout_id"]);
      if (order === undefined) return [];
      // A payout that has the commission may still fail.
      const [payout] = order.payout_id === null ? [] : await assistant.list("payouts", { id: order.payout_id }, ["status", "paid_at"]);
      return [{ link_id: order.link_id, paid: payout?.status === "paid", paid_at: payout?.paid_at ?? null }];
    },
  },
];
