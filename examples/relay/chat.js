import { createHash } from "node:crypto";
import { noResponse, refusalOf } from "./chat-refusal.js";

/** Shorter than the 15 s that a delivery has in total. */
const RESPONSE_MS_MAX = 12_000;

/** @typedef {import("./message.js").Message} Message */

/** Builds the body for each chat's incoming webhook. */
const FORMATS = {
  /** @param {Message} message */
  slack: ({ title, ids, url }) => ({ text: `*${title}* ${asCode(ids)} <${url}|Open>`, unfurl_links: false }),
  /** @param {Message} message */
  discord: ({ title, ids, url }) => ({ content: `**${title}** ${asCode(ids)} <${url}>`, allowed_mentions: { parse: [] } }),
  /** An adaptive card, as Workflows ("when a webhook request is received") post it. @param {Message} message */
  teams: ({ title, ids, url }) => ({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body: [
            { type: "TextBlock", text: title, weight: "Bolder", wrap: true },
            { type: "TextBlock", text: ids.join(" in "), isSubtle: true, wrap: true },
          ],
          actions: [{ type: "Action.OpenUrl", title: "Open", url }],
        },
      },
    ],
  }),
  /** @param {Message} message */
  google: ({ title, ids, url }) => ({ text: `*${title}* ${asCode(ids)} <${url}|Open>` }),
};

/** @typedef {keyof typeof FORMATS} ChatKind */

export const CHAT_KINDS = /** @type {readonly ChatKind[]} */ (Object.keys(FORMATS));

/** Ids have underscores, which are italics elsewhere. @param {readonly string[]} ids */
const asCode = (ids) => ids.map((id) => `\`${id}\``).join(" in ");

/** @typedef {{ kind: ChatKind, url: URL }} Chat */

/**
 * Names a chat in the database. A digest, because the URL allows posting. Without the query: there Google Chat and Teams have
 * tokens, which may be replaced.
 *
 * @param {Chat} chat
 */
export function chatKey({ kind, url }) {
  return `${kind} ${createHash("sha256").update(`${url.origin}${url.pathname}`).digest("hex").slice(0, 32)}`;
}

/**
 * Resolves once the chat has accepted the message.
 *
 * @param {Chat} chat
 * @param {Message} message
 * @throws {import("./chat-refusal.js").ChatRefusal}
 */
export async function postToChat({ kind, url }, message) {
  /** @type {import("./chat-refusal.js").ChatRefusal | undefined} */
  let refusal;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(FORMATS[kind](message)),
      redirect: "manual",
      signal: AbortSignal.timeout(RESPONSE_MS_MAX),
    });
    if (!response.ok) refusal = await refusalOf(response);
    else await response.body?.cancel();
  } catch (error) {
    refusal = noResponse(error);
  }
  if (refusal !== undefined) throw refusal;
}
