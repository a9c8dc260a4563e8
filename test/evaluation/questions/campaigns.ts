import { type AnsweredQuestion, CLIPS, RULES, sortedBy, sumOf } from "../question.ts";

const titlesOf = (status: string): Pick<AnsweredQuestion, "budget" | "truth" | "answer"> => ({
  budget: { demo: [1, 200], large: [1, 1_500] },
  truth: `select title from records.campaigns where brand_id = $1 and status = '${status}' order by title collate "C"`,
  async answer(assistant) {
    const campaigns = await assistant.list("campaigns", { status }, ["title"]);
    return sortedBy(campaigns, "title").map(({ title }) => ({ title }));
  },
});

export const CAMPAIGN_QUESTIONS: readonly AnsweredQuestion[] = [
  { ...titlesOf("active"), question: "Which campaigns are running?", rules: [] },
  {
    question: `How much of the budget of "${CLIPS}" is used, and how much of that is paid out?`,
    budget: { demo: [1, 1_300], large: [2, 25_000] },
    rules: [RULES.money],
    meanings: ["committed_centavos is earned by approved work and orders, without pending commission; paid_centavos is its paid part"],
    about: "clips",
    truth: `select round(100.0 * committed_centavos / budget_centavos)::int as used_percent, paid_centavos
              from records.campaigns where brand_id = $1 and title = $2 order by created_at desc limit 1`,
    async answer(assistant, wanted) {
      const campaigns = await assistant.list("campaigns", {}, ["title", "budget_centavos", "committed_centavos", "paid_centavos"]);
      const found = campaigns.find(({ title }) => title === wanted);
      if (found === undefined) return [];
      const { committed_centavos: committed, budget_centavos: budget, paid_centavos } = found;
      return [{ used_percent: Math.round((100 * committed) / budget), paid_centavos }];
    },
  },
  {
    ...titlesOf("ended"),
    question: "Which campaigns are over, but have payouts that are not final?",
    rules: [],
    meanings: ["ended: over, payouts open"],
  },
  {
    question: "What did we pay to creators in all campaigns so far, and in which most?",
    budget: { demo: [1, 900], large: [2, 18_000] },
    rules: [RULES.money],
    meanings: ["paid_centavos is its paid part"],
    truth: `select sum(paid_centavos)::bigint as paid_centavos, (array_agg(title order by paid_centavos desc))[1] as most
              from records.campaigns where brand_id = $1`,
    async answer(assistant) {
      const campaigns = await assistant.list("campaigns", {}, ["title", "paid_centavos"]);
      const [most] = campaigns.toSorted((a, b) => b.paid_centavos - a.paid_centavos);
      return [{ paid_centavos: sumOf(campaigns, "paid_centavos"), most: most?.title }];
    },
  },
];
