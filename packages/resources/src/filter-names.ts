/** The filters that lists may have, in the order in which they are described. */
export const FILTER_NAMES = ["id", "campaign_id", "link_id", "status", "created_from", "created_before"] as const;
export type FilterName = (typeof FILTER_NAMES)[number];
