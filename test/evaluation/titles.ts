/** Campaigns of the demo brand that questions name. */

/** Clips, ended in autumn. */
export const ENDED_CLIPS = "10.10 Papaya Enzyme Cleanser Clip Rush";
/** Tracked links, paused. */
export const PAUSED_LINKS = "Kita Kits: Calamansi Glow Serum Links";
