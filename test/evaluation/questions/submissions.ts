import { type AnsweredQuestion, CAMPAIGN, CLIPS, countBy, from, RULES, sumOf, within } from "../question.ts";

const FRIDAY = from("2026-11-20");
const TWO_WEEKS_AGO = "2026-11-09T18:34:00+08:00";
const OF_CAMPAIGN = `records.submissions where brand_id = $1 and campaign_id = ${CAMPAIGN}`;
const PENDING = "waits for review (status pending, since submitted_at)";

export const SUBMISSION_QUESTIONS: readonly AnsweredQuestion[] = [
  {
    question: "How many submissions wait for review?",
    budget: { demo: [2, 5_500] },
    rules: [],
    meanings: [PENDING],
    truth: "select count(*)::int as waiting from records.submissions where brand_id = $1 and status = 'pending'",
    async answer(assistant) {
      return [{ waiting: (await assistant.list("submissions", { status: "pending" }, ["id"])).length }];
    },
  },
  {
    question: "How many of them have waited for more than two weeks?",
    budget: { demo: [1, 5_500] },
    rules: [RULES.days, RULES.today],
    meanings: [PENDING],
    truth: `select count(*)::int as waiting from records.submissions
             where brand_id = $1 and status = 'pending' and submitted_at < '${TWO_WEEKS_AGO}'`,
    async answer(assistant) {
      // A record is created after the work was handed in, within a minute.
      const range = { status: "pending", created_before: "2026-11-09T18:35:00+08:00" };
      const submissions = await assistant.list("submissions", range, ["submitted_at"]);
      return [{ waiting: submissions.filter(within("submitted_at", from("2000-01-01"), TWO_WEEKS_AGO)).length }];
    },
  },
  {
    question: `Why were submissions to "${CLIPS}" rejected?`,
    budget: { demo: [2, 1_400], large: [3, 16_000] },
    rules: [],
    meanings: ["reasons of rejection"],
    about: "clips",
    truth: `select rejection_code, count(*)::int as count from ${OF_CAMPAIGN} and status = 'rejected' group by 1 order by 1`,
    async answer(assistant, title) {
      const filters = { campaign_id: await assistant.campaign(title), status: "rejected" };
      return countBy(await assistant.list("submissions", filters, ["rejection_code"]), "rejection_code");
    },
  },
  {
    question: `How many views have the approved submissions to "${CLIPS}", and which has the most?`,
    budget: { demo: [2, 3_500], large: [3, 20_000] },
    rules: [],
    meanings: ["views: so far, null until measured."],
    about: "clips",
    truth: `select sum(views)::bigint as views, (array_agg(id order by views desc nulls last))[1] as most
              from ${OF_CAMPAIGN} and status = 'approved'`,
    async answer(assistant, title) {
      const filters = { campaign_id: await assistant.campaign(title), status: "approved" };
      const approved = await assistant.list("submissions", filters, ["views"]);
      const [most] = approved.toSorted((a, b) => (b.views ?? 0) - (a.views ?? 0));
      return [{ views: sumOf(approved, "views"), most: most?.id }];
    },
  },
  {
    question: `What share of the reviewed submissions to "${CLIPS}" was approved?`,
    budget: { demo: [3, 3_500], large: [4, 20_000] },
    rules: [],
    meanings: ["approval rates"],
    about: "clips",
    truth: `select round(100.0 * count(*) filter (where status = 'approved') / count(*))::int as percent
              from ${OF_CAMPAIGN} and status in ('approved', 'rejected')`,
    async answer(assistant, title) {
      const campaign_id = await assistant.campaign(title);
      const approved = (await assistant.list("submissions", { campaign_id, status: "approved" }, ["id"])).length;
      const rejected = (await assistant.list("submissions", { campaign_id, status: "rejected" }, ["id"])).length;
      return [{ percent: Math.round((100 * approved) / (approved + rejected)) }];
    },
  },
  {
    question: "What has come in since Friday, and what became of it?",
    budget: { demo: [1, 1_100], large: [4, 21_000] },
    rules: [RULES.days, RULES.today],
    truth: `select status, count(*)::int as count from records.submissions
             where brand_id = $1 and created_at >= '${FRIDAY}' group by 1 order by 1`,
    answer: async (assistant) => countBy(await assistant.list("submissions", { created_from: FRIDAY }, ["status"]), "status"),
  },
  {
    question: "An event names a submission: what was decided, why, and when?",
    budget: { demo: [1, 100], large: [1, 100] },
    rules: [],
    meanings: ["its review"],
    about: "submission",
    truth: "select id, status, rejection_code, reviewed_at from records.submissions where brand_id = $1 and id = $2",
    answer: (assistant, id) => assistant.list("submissions", { id }, ["status", "rejection_code", "reviewed_at"]),
  },
];
