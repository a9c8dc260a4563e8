/** What people read. Names and a link, nothing of what the event holds: more people read a chat than may see payouts. */
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
 * The event in a body that was verified.
 *
 * @param {Buffer} body
 * @returns {ServiceEvent | undefined} undefined if it is none of those we know
 */
export function readEvent(body) {
  try {
    const { id, type, test, dashboard_url } = JSON.parse(body.toString());
    if (typeof id !== "string" || id.length > 64 || !EVENT_NAMES.includes(type)) return undefined;
    const url = new URL(dashboard_url);
    if (!/^https?:$/.test(url.protocol)) return undefined;
    // Serialised anew: no spaces, quotes or angle brackets that would mean something to a chat.
    return { id, type, test: test === true, dashboard_url: url.href };
  } catch {
    return undefined;
  }
}

/** @param {ServiceEvent} event */
export const titleOf = ({ type, test }) => `${test ? "[test] " : ""}${NAMES[type]}`;
