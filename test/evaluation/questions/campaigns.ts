import { sum, type AnsweredQuestion } from "../question.ts";
import { ENDED_CLIPS } from "../titles.ts";

export const CAMPAIGN_QUESTIONS: readonly AnsweredQuestion[] = [
  {
    question: "Which campaigns are running?",
    callsMax: 1,
    truth: () => ({ sql: "select title from records.campaigns where brand_id = $1 and status = 'active' order by title" }),
    async answer(assistant) {
      const campaigns = await assistant.list("campaigns", { status: "active" });
      return campaigns.map(({ title }) => ({ title })).toSorted((a, b) => (a.title < b.title ? -1 : 1));
    },
  },
  {
    question: `How much of the budget of "${ENDED_CLIPS}" is used, and how much of that is paid out?`,
    callsMax: 1,
    truth: () => ({
      sql: `select round(100.0 * committed_centavos / budget_centavos)::int as used_percent, paid_centavos
              from records.campaigns where brand_id = $1 and title = $2`,
      values: [ENDED_CLIPS],
    }),
    async answer(assistant) {
      const { committed_centavos, budget_centavos, paid_centavos } = await assistant.campaign(ENDED_CLIPS);
      return [{ used_percent: Math.round((100 * committed_centavos) / budget_centavos), paid_centavos }];
    },
  },
  {
    question: "Which campaigns are over, but have payouts that are not final?",
    callsMax: 1,
    truth: () => ({ sql: "select title from records.campaigns where brand_id = $1 and status = 'ended' order by title collate \"C\"" }),
    async answer(assistant) {
      const campaigns = await assistant.list("campaigns", { status: "ended" });
      return campaigns.map(({ title }) => ({ title })).toSorted((a, b) => (a.title < b.title ? -1 : 1));
    },
  },
  {
    question: "What did we pay to creators in all campaigns so far, and in which most?",
    callsMax: 1,
    truth: () => ({
      sql: `select sum(paid_centavos)::bigint as paid_centavos, (array_agg(title order by paid_centavos desc))[1] as most
              from records.campaigns where brand_id = $1`,
    }),
    async answer(assistant) {
      const campaigns = await assistant.list("campaigns");
      const [most] = campaigns.toSorted((a, b) => b.paid_centavos - a.paid_centavos);
      return [{ paid_centavos: sum(campaigns.map(({ paid_centavos }) => paid_centavos)), most: most?.title }];
    },
  },
];
