import { titleOf } from "./message.js";

/** Shorter than the 15 s that a delivery has in total. */
const RESPONSE_MS_MAX = 10_000;

/** @typedef {import("./message.js").ServiceEvent} ServiceEvent */

/** Builds the body for each chat's incoming webhook. */
const FORMATS = {
  /** @param {ServiceEvent} event */
  slack: (event) => ({ text: `*${titleOf(event)}* <${slackEscaped(event.dashboard_url)}|Open>`, unfurl_links: false }),
  /** @param {ServiceEvent} event */
  discord: (event) => ({ content: `**${titleOf(event)}** <${event.dashboard_url}>`, allowed_mentions: { parse: [] } }),
  /** An adaptive card, as Workflows ("when a webhook request is received") post it. @param {ServiceEvent} event */
  teams: (event) => ({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body: [{ type: "TextBlock", text: titleOf(event), weight: "Bolder", wrap: true }],
          actions: [{ type: "Action.OpenUrl", title: "Open", url: event.dashboard_url }],
        },
      },
    ],
  }),
  /** @param {ServiceEvent} event */
  google: (event) => ({ text: `*${titleOf(event)}* <${event.dashboard_url}|Open>` }),
};

/** @typedef {keyof typeof FORMATS} ChatKind */

export const CHAT_KINDS = /** @type {readonly ChatKind[]} */ (Object.keys(FORMATS));

/** @param {string} text */
const slackEscaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The chat did not accept the message. */
export class ChatRefusal extends Error {
  /**
   * @param {string} message
   * @param {number} [retryAfterSeconds] the chat's Retry-After
   */
  constructor(message, retryAfterSeconds) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Resolves once the chat has accepted the message.
 *
 * @param {{ chatUrl: URL, chatKind: ChatKind }} chat
 * @param {ServiceEvent} event
 * @throws {ChatRefusal}
 */
export async function postToChat({ chatUrl, chatKind }, event) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(chatUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(FORMATS[chatKind](event)),
      redirect: "manual",
      signal: AbortSignal.timeout(RESPONSE_MS_MAX),
    });
    await response.body?.cancel();
  } catch (error) {
    // Only the error's name: its message may contain the URL, which is a secret.
    throw new ChatRefusal(`no response from the chat (${error instanceof Error ? error.name : "unknown"})`);
  }
  if (!response.ok) throw new ChatRefusal(`the chat responded with ${response.status}`, retryAfterOf(response));
}

/** @param {Response} response */
function retryAfterOf({ headers }) {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds) : undefined;
}
