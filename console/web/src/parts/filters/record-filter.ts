import type { Filter } from "./filter-bar.tsx";

/** Selects what is about one record. @param name in the URL */
export const recordFilter = (name: string): Filter => ({
  kind: "text",
  name,
  label: "Record id",
  placeholder: "sub_…, po_… or cmp_…",
  pattern: /^[a-z]{2,3}_[0-9a-z]{1,40}$/,
  problem: "A record’s id has a prefix, such as sub_, and lower-case letters or digits.",
});
