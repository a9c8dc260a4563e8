import type { RecordOf } from "@brand-records/resources";
import { newId } from "@brand-records/ids";

/** Valid records with fixed values, for tests that change some. */

const created_at = "2026-11-21T08:30:00.000Z";

export const campaign = (more: Partial<RecordOf<"campaigns">> = {}): RecordOf<"campaigns"> => ({
  id: newId("cmp"),
  created_at,
  updated_at: created_at,
  title: "Merienda Clip Challenge",
  type: "blitz",
  status: "active",
  plan_id: null,
  currency: "PHP",
  budget_centavos: 500_000,
  committed_centavos: 350_000,
  paid_centavos: 0,
  rate_per_1000_views_centavos: 10_000,
  fee_per_deliverable_centavos: null,
  commission_bps: null,
  platforms: ["tiktok", "youtube"],
  starts_at: "2026-11-22T00:00:00.000Z",
  ends_at: null,
  settled_at: null,
  ...more,
});

export const deposit = (more: Partial<RecordOf<"deposits">> = {}): RecordOf<"deposits"> => ({
  id: newId("dep"),
  created_at,
  updated_at: created_at,
  campaign_id: "cmp_1",
  status: "succeeded",
  amount_centavos: 500_000,
  refunded_centavos: 0,
  currency: "PHP",
  method: "gcash",
  reference: "GC0001",
  credited_at: "2026-11-21T08:31:02.250Z",
  ...more,
});

export const submission = (more: Partial<RecordOf<"submissions">> = {}): RecordOf<"submissions"> => ({
  id: newId("sub"),
  created_at,
  updated_at: created_at,
  campaign_id: "cmp_1",
  creator_id: "crt_1",
  payout_id: null,
  status: "pending",
  platform: "tiktok",
  content_url: "https://video.example/1",
  views: 1_200,
  earned_centavos: 12_000,
  currency: "PHP",
  rejection_code: null,
  submitted_at: created_at,
  reviewed_at: null,
  ...more,
});

export const payout = (more: Partial<RecordOf<"payouts">> = {}): RecordOf<"payouts"> => ({
  id: newId("po"),
  created_at,
  updated_at: created_at,
  campaign_id: "cmp_1",
  creator_id: "crt_1",
  status: "processing",
  amount_centavos: 250_000,
  fee_centavos: 1_500,
  currency: "PHP",
  submission_count: 3,
  conversion_count: 0,
  failure_code: null,
  initiated_at: created_at,
  paid_at: null,
  ...more,
});
