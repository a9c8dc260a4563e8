import { countBy, sum, type AnsweredQuestion } from "../question.ts";
import { ENDED_CLIPS } from "../titles.ts";

const FRIDAY = "2026-11-20T00:00:00+08:00";
const TWO_WEEKS_AGO = "2026-11-09T18:34:00+08:00";
/** Submissions of the campaign whose title is `$2`. */
const OF_CAMPAIGN =
  "records.submissions s join records.campaigns c on (c.brand_id, c.id) = (s.brand_id, s.campaign_id) where s.brand_id = $1 and c.title = $2";

export const SUBMISSION_QUESTIONS: readonly AnsweredQuestion[] = [
  {
    question: "How many submissions wait for review?",
    callsMax: 3,
    truth: () => ({ sql: "select count(*)::int as waiting from records.submissions where brand_id = $1 and status = 'pending'" }),
    async answer(assistant) {
      return [{ waiting: (await assistant.list("submissions", { status: "pending" })).length }];
    },
  },
  {
    question: "How many of them have waited for more than two weeks?",
    callsMax: 2,
    truth: () => ({
      sql: "select count(*)::int as waiting from records.submissions where brand_id = $1 and status = 'pending' and submitted_at < $2",
      values: [TWO_WEEKS_AGO],
    }),
    async answer(assistant) {
      // A record is created after the work was handed in, within a minute.
      const submissions = await assistant.list("submissions", { status: "pending", created_before: "2026-11-09T18:35:00+08:00" });
      return [{ waiting: submissions.filter(({ submitted_at }) => Date.parse(submitted_at) < Date.parse(TWO_WEEKS_AGO)).length }];
    },
  },
  {
    question: `Why were submissions to "${ENDED_CLIPS}" rejected?`,
    callsMax: 2,
    truth: () => ({
      sql: `select rejection_code, count(*)::int as count from ${OF_CAMPAIGN} and s.status = 'rejected' group by 1 order by 1`,
      values: [ENDED_CLIPS],
    }),
    async answer(assistant) {
      const { id } = await assistant.campaign(ENDED_CLIPS);
      const rejected = await assistant.list("submissions", { campaign_id: id, status: "rejected" });
      return countBy(
        "rejection_code",
        rejected.map(({ rejection_code }) => rejection_code),
      );
    },
  },
  {
    question: `How many views have the approved submissions to "${ENDED_CLIPS}", and which has the most?`,
    callsMax: 2,
    truth: () => ({
      sql: `select sum(views)::bigint as views, (array_agg(s.id order by views desc nulls last))[1] as most from ${OF_CAMPAIGN} and s.status = 'approved'`,
      values: [ENDED_CLIPS],
    }),
    async answer(assistant) {
      const { id } = await assistant.campaign(ENDED_CLIPS);
      const approved = await assistant.list("submissions", { campaign_id: id, status: "approved" });
      const [most] = approved.toSorted((a, b) => (b.views ?? 0) - (a.views ?? 0));
      return [{ views: sum(approved.map(({ views }) => views ?? 0)), most: most?.id }];
    },
  },
  {
    question: `What share of the reviewed submissions to "${ENDED_CLIPS}" was approved?`,
    callsMax: 3,
    truth: () => ({
      sql: `select round(100.0 * count(*) filter (where s.status = 'approved') / count(*))::int as percent
              from ${OF_CAMPAIGN} and s.status in ('approved', 'rejected')`,
      values: [ENDED_CLIPS],
    }),
    async answer(assistant) {
      const { id } = await assistant.campaign(ENDED_CLIPS);
      const approved = (await assistant.list("submissions", { campaign_id: id, status: "approved" })).length;
      const rejected = (await assistant.list("submissions", { campaign_id: id, status: "rejected" })).length;
      return [{ percent: Math.round((100 * approved) / (approved + rejected)) }];
    },
  },
  {
    question: "What has come in since Friday, and what became of it?",
    callsMax: 1,
    truth: () => ({
      sql: "select status, count(*)::int as count from records.submissions where brand_id = $1 and created_at >= $2 group by 1 order by 1",
      values: [FRIDAY],
    }),
    async answer(assistant) {
      const submissions = await assistant.list("submissions", { created_from: FRIDAY });
      return countBy(
        "status",
        submissions.map(({ status }) => status),
      );
    },
  },
  {
    question: "An event names a submission: what was decided, why, and when?",
    callsMax: 1,
    truth: ({ submission }) => ({
      sql: "select status, rejection_code, reviewed_at from records.submissions where brand_id = $1 and id = $2",
      values: [submission],
    }),
    async answer(assistant, { submission }) {
      const found = await assistant.list("submissions", { id: submission });
      return found.map(({ status, rejection_code, reviewed_at }) => ({ status, rejection_code, reviewed_at }));
    },
  },
];
