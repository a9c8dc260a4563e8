/** Written out: what checks them loads slower than help and completion take altogether. */
export const EVENT_TYPES = ["submission.approved", "submission.rejected", "payout.paid", "campaign.settled"];
