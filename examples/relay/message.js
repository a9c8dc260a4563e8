/** Each event's title in the chat, and the prefix of its record's ids. */
const TYPES = {
  "submission.approved": { title: "Submission approved", prefix: "sub" },
  "submission.rejected": { title: "Submission rejected", prefix: "sub" },
  "payout.paid": { title: "Payout paid", prefix: "po" },
  "campaign.settled": { title: "Campaign settled", prefix: "cmp" },
};

/** @typedef {keyof typeof TYPES} EventType */

/** @type {readonly string[]} */
export const EVENT_NAMES = Object.keys(TYPES);

/**
 * What a chat gets to know of an event: names, ids and a link, because more people read a chat than may see payouts. Each part
 * matches a pattern without the characters that chats interpret, so nothing is escaped.
 *
 * @typedef {object} Message
 * @property {string} eventId
 * @property {EventType} type
 * @property {string} title
 * @property {readonly string[]} ids the record's, and that of its campaign
 * @property {string} url the event's page in the Developers area
 */

/** A path before /developers is that of the service's PUBLIC_URL. */
const LINK = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?(?:\/[A-Za-z0-9._-]+)*\/developers\/events\/(evt_[0-9a-z]{1,40})$/;

/**
 * Reads the event in a verified body.
 *
 * @param {Buffer} body
 * @returns {Message | undefined} undefined if it is not an event as the service documents it
 */
export function readMessage(body) {
  let event;
  try {
    event = JSON.parse(body.toString());
  } catch {
    return undefined;
  }
  const { id, type, test, dashboard_url, data } = event ?? {};
  if (!isEventType(type)) return undefined;
  const { title, prefix } = TYPES[type];
  const link = LINK.exec(dashboard_url);
  if (link === null || link[1] !== id || !isId(data?.id, prefix) || !isId(data.campaign_id, "cmp")) return undefined;
  return {
    eventId: id,
    type,
    title: `${test === true ? "[test] " : ""}${title}`,
    ids: [...new Set([data.id, data.campaign_id])],
    url: dashboard_url,
  };
}

/**
 * @param {unknown} type
 * @returns {type is EventType}
 */
const isEventType = (type) => EVENT_NAMES.some((name) => name === type);

/**
 * @param {unknown} id
 * @param {string} prefix
 */
const isId = (id, prefix) => typeof id === "string" && id.startsWith(`${prefix}_`) && /^[0-9a-z]{1,40}$/.test(id.slice(prefix.length + 1));
