import { formatInstant, type RecordOf } from "@brand-records/resources";
import { idAt } from "../ids.ts";
import { Random } from "../random.ts";
import { DAY, HOUR, SECOND } from "../timeline.ts";
import type { BrandHistory } from "../brand-history.ts";

const REJECTIONS = ["off_brief", "low_quality", "duplicate", "policy", "invalid_views", "other"] as const;
const REJECTION_WEIGHTS = [38, 27, 12, 9, 9, 5];

export function* submissionRecords(history: BrandHistory): Generator<RecordOf<"submissions">> {
  const { context, submissions, payouts, creators } = history;
  const idStream = context.stream("submission id");
  const stream = context.stream("submission record");
  for (let index = 0; index < context.sizes.submissions; index += 1) {
    const facts = submissions.facts(index);
    const { createdAt, status, reviewedAt } = facts;
    const { campaign, creator, payout } = payouts.placeSubmission(index, facts);
    const { platform, views, earned } = submissions.result(index, status, campaign);
    const paidBy = payouts.all[payout];
    const random = new Random(stream, index);
    const submittedAt = Math.max(campaign.runsFrom, createdAt - random.below(40 * SECOND));
    const withdrawnAt = Math.min(context.now, createdAt + random.between(HOUR, 2 * DAY));
    const updatedAt = paidBy?.createdAt ?? reviewedAt ?? (status === "withdrawn" ? withdrawnAt : createdAt);
    yield {
      id: idAt("sub", createdAt, idStream, index),
      created_at: formatInstant(createdAt),
      updated_at: formatInstant(updatedAt),
      campaign_id: campaign.id,
      creator_id: creators.ids[creator] ?? "",
      payout_id: paidBy?.id ?? null,
      status,
      platform,
      content_url: `https://${platform}.example/v/${random.bits()}${random.bits()}`,
      views,
      earned_centavos: earned,
      currency: "PHP",
      rejection_code: status === "rejected" ? random.pickWeighted(REJECTIONS, REJECTION_WEIGHTS) : null,
      submitted_at: formatInstant(submittedAt),
      reviewed_at: reviewedAt === null ? null : formatInstant(reviewedAt),
    };
  }
}
