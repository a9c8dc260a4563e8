import { choice } from "./filters/choice.ts";
import type { Filter } from "./filters/filter-bar.tsx";

/** The types that receivers select, with what they report. */
export const EVENT_TYPES: readonly { readonly type: string; readonly text: string }[] = [
  { type: "submission.approved", text: "A submission was approved" },
  { type: "submission.rejected", text: "A submission was rejected" },
  { type: "payout.paid", text: "A payout was paid" },
  { type: "campaign.settled", text: "A campaign was settled" },
];

/** Selects events or deliveries by type. All of them: a receiver has deliveries of types that it no longer selects. */
export const typeFilter = (label: string): Filter => choice("type", label, "All types", EVENT_TYPES, ({ type }) => [type, type]);

/** Selects what is about one record. @param name in the URL */
export const recordFilter = (name: string): Filter => ({
  kind: "text",
  name,
  label: "Record id",
  placeholder: "sub_…, po_… or cmp_…",
  pattern: /^[a-z]{2,3}_[0-9a-z]{1,40}$/,
  problem: "A record’s id has a prefix, such as sub_, and lower-case letters or digits.",
});
