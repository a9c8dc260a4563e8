/** The types that receivers select, with what they report. */
export const EVENT_TYPES: readonly { readonly type: string; readonly text: string }[] = [
  { type: "submission.approved", text: "A submission was approved" },
  { type: "submission.rejected", text: "A submission was rejected" },
  { type: "payout.paid", text: "A payout was paid" },
  { type: "campaign.settled", text: "A campaign was settled" },
];
