import { countBy, isWithin, OCTOBER, sum, type AnsweredQuestion } from "../question.ts";
import { PAUSED_LINKS } from "../titles.ts";

const YESTERDAY = { created_from: "2026-11-22T00:00:00+08:00", created_before: "2026-11-23T00:00:00+08:00" };
const NOVEMBER = { created_from: "2026-11-01T00:00:00+08:00", created_before: "2026-12-01T00:00:00+08:00" };
/** An order becomes a record within a day. */
const A_DAY_LATER = { yesterday: "2026-11-23T18:34:00+08:00", october: "2026-11-02T00:00:00+08:00" };

export const LINK_QUESTIONS: readonly AnsweredQuestion[] = [
  {
    question: `How many links does "${PAUSED_LINKS}" have, and how many clicks and orders did they bring?`,
    callsMax: 2,
    truth: () => ({
      sql: `select count(*)::int as links, coalesce(sum(clicks), 0)::bigint as clicks, coalesce(sum(conversions), 0)::bigint as orders
              from records.links l join records.campaigns c on (c.brand_id, c.id) = (l.brand_id, l.campaign_id)
             where l.brand_id = $1 and c.title = $2`,
      values: [PAUSED_LINKS],
    }),
    async answer(assistant) {
      const { id } = await assistant.campaign(PAUSED_LINKS);
      const links = await assistant.list("links", { campaign_id: id });
      const [clicks, orders] = [sum(links.map((link) => link.clicks)), sum(links.map((link) => link.conversions))];
      return [{ links: links.length, clicks, orders }];
    },
  },
  {
    question: "Which five links brought the most orders?",
    callsMax: 5,
    truth: () => ({ sql: "select id, conversions from records.links where brand_id = $1 order by conversions desc, id limit 5" }),
    async answer(assistant) {
      const links = (await assistant.list("links")).toSorted((a, b) => b.conversions - a.conversions || (a.id < b.id ? -1 : 1));
      return links.slice(0, 5).map(({ id, conversions }) => ({ id, conversions }));
    },
  },
];

export const ORDER_QUESTIONS: readonly AnsweredQuestion[] = [
  {
    question: "How many orders did one link bring in October, and what were they worth?",
    callsMax: 2,
    truth: ({ link }) => ({
      sql: `select count(*)::int as orders, sum(order_amount_centavos)::bigint as centavos
              from records.conversions where brand_id = $1 and link_id = $2 and occurred_at >= $3 and occurred_at < $4`,
      values: [link, OCTOBER.created_from, OCTOBER.created_before],
    }),
    async answer(assistant, { link }) {
      const range = { created_from: OCTOBER.created_from, created_before: A_DAY_LATER.october };
      const found = await assistant.list("conversions", { link_id: link, ...range });
      const orders = found.filter(({ occurred_at }) => isWithin(OCTOBER, occurred_at));
      return [{ orders: orders.length, centavos: sum(orders.map(({ order_amount_centavos }) => order_amount_centavos)) }];
    },
  },
  {
    question: "How many orders were placed yesterday?",
    callsMax: 5,
    truth: () => ({
      sql: "select count(*)::int as orders from records.conversions where brand_id = $1 and occurred_at >= $2 and occurred_at < $3",
      values: [YESTERDAY.created_from, YESTERDAY.created_before],
    }),
    async answer(assistant) {
      const range = { created_from: YESTERDAY.created_from, created_before: A_DAY_LATER.yesterday };
      const found = await assistant.list("conversions", range);
      return [{ orders: found.filter(({ occurred_at }) => isWithin(YESTERDAY, occurred_at)).length }];
    },
  },
  {
    question: `How many orders of November through "${PAUSED_LINKS}" are reversed, and why?`,
    callsMax: 2,
    truth: () => ({
      sql: `select reversal_code, count(*)::int as count from records.conversions v
              join records.campaigns c on (c.brand_id, c.id) = (v.brand_id, v.campaign_id)
             where v.brand_id = $1 and c.title = $2 and v.status = 'reversed' and v.occurred_at >= $3 and v.occurred_at < $4
             group by 1 order by 1`,
      values: [PAUSED_LINKS, NOVEMBER.created_from, NOVEMBER.created_before],
    }),
    async answer(assistant) {
      const { id } = await assistant.campaign(PAUSED_LINKS);
      const found = await assistant.list("conversions", { campaign_id: id, status: "reversed", created_from: NOVEMBER.created_from });
      const reversed = found.filter(({ occurred_at }) => isWithin(NOVEMBER, occurred_at));
      return countBy(
        "reversal_code",
        reversed.map(({ reversal_code }) => reversal_code),
      );
    },
  },
  {
    question: "Which link brought one order, and is its commission paid?",
    callsMax: 2,
    truth: ({ conversion }) => ({
      sql: `select v.link_id, coalesce(p.status = 'paid', false) as paid, p.paid_at
              from records.conversions v left join records.payouts p on (p.brand_id, p.id) = (v.brand_id, v.payout_id)
             where v.brand_id = $1 and v.id = $2`,
      values: [conversion],
    }),
    async answer(assistant, { conversion }) {
      const [order] = await assistant.list("conversions", { id: conversion });
      if (order === undefined) return [];
      // A payout that has the commission may still fail.
      const [payout] = order.payout_id === null ? [] : await assistant.list("payouts", { id: order.payout_id });
      return [{ link_id: order.link_id, paid: payout?.status === "paid", paid_at: payout?.paid_at ?? null }];
    },
  },
];
