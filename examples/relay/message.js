/** Titles in the chat. A message has a title and a link only: more people read a chat than may see payouts. */
const NAMES = {
  "submission.approved": "Submission approved",
  "submission.rejected": "Submission rejected",
  "payout.paid": "Payout paid",
  "campaign.settled": "Campaign settled",
};

/** @type {readonly string[]} */
export const EVENT_NAMES = Object.keys(NAMES);

/**
 * @typedef {object} ServiceEvent
 * @property {string} id
 * @property {keyof typeof NAMES} type
 * @property {boolean} test
 * @property {string} dashboard_url
 */

/**
 * Reads the event in a verified body.
 *
 * @param {Buffer} body
 * @returns {ServiceEvent | undefined} undefined if it is not a known event
 */
export function readEvent(body) {
  try {
    const { id, type, test, dashboard_url } = JSON.parse(body.toString());
    if (typeof id !== "string" || id.length > 64 || !EVENT_NAMES.includes(type)) return undefined;
    const url = new URL(dashboard_url);
    if (!/^https?:$/.test(url.protocol)) return undefined;
    // Serialised by URL: no spaces, quotes or angle brackets that a chat would interpret.
    return { id, type, test: test === true, dashboard_url: url.href };
  } catch {
    return undefined;
  }
}

/** @param {ServiceEvent} event */
export const titleOf = ({ type, test }) => `${test ? "[test] " : ""}${NAMES[type]}`;
