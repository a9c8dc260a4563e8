/** The four things that can happen to a brand's records, and the resource each happens to. Contract. */
export const EVENT_TYPES = {
  "submission.approved": "submissions",
  "submission.rejected": "submissions",
  "payout.paid": "payouts",
  "campaign.settled": "campaigns",
} as const;

export type EventType = keyof typeof EVENT_TYPES;

export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as [EventType, ...EventType[]];

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(EVENT_TYPES, text);
}
