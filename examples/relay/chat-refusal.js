/** Pause after a failure that passes, if the chat names no time: the first retry would come after 5 s. */
const RETRY_AFTER_SECONDS = 30;
/** The service waits no longer. */
const RETRY_AFTER_SECONDS_MAX = 86_400;
/** Request timeout, too early, too many requests. */
const PASSING = new Set([408, 425, 429]);

/** The chat did not accept the message. */
export class ChatRefusal extends Error {
  /**
   * @param {string} message for the operators of the relay and of the service: without the URL, which is a secret
   * @param {number | undefined} retryAfterSeconds undefined if it will not pass until a person changes something
   */
  constructor(message, retryAfterSeconds) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get needsPerson() {
    return this.retryAfterSeconds === undefined;
  }
}

/** @param {Response} response not 2xx */
export async function refusalOf(response) {
  const { status } = response;
  const reason = [status, await codeOf(response)].filter(Boolean).join(" ");
  if (status >= 500 || PASSING.has(status)) return new ChatRefusal(`the chat is unavailable (${reason})`, retryAfterOf(response));
  return new ChatRefusal(textFor(status, reason), undefined);
}

/**
 * Slack: 404 no_service, 403 invalid_token, 410 channel_is_archived; Discord: 404 10015, 401 50027; Teams: 404
 * WorkflowNotFound; Google Chat: 404 NOT_FOUND, 403 PERMISSION_DENIED.
 *
 * @param {number} status
 * @param {string} reason
 */
function textFor(status, reason) {
  if (status === 404 || status === 410) return `chat webhook does not exist (${reason}): create a new one and set RELAY_CHAT_URL`;
  if (status === 401 || status === 403)
    return `chat webhook is revoked or forbidden (${reason}): allow it, or create a new one and set RELAY_CHAT_URL`;
  if (status < 400) return `chat webhook redirects (${reason}): set RELAY_CHAT_URL to the final URL`;
  return `the chat refuses the message (${reason}): check that RELAY_CHAT_KIND fits RELAY_CHAT_URL, and that the webhook is enabled`;
}

/** @param {unknown} error of fetch */
export function noResponse(error) {
  // Codes and names are all that is logged: messages may contain the URL.
  const { name = "unknown", cause } = error instanceof Error ? error : {};
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : name;
  return new ChatRefusal(`no response from the chat (${code})`, RETRY_AFTER_SECONDS);
}

/** @param {Response} response */
function retryAfterOf({ headers }) {
  const text = headers.get("retry-after") ?? "";
  // Some chats send fractions. No chat sends a date.
  return /^\d+(\.\d+)?$/.test(text) ? Math.min(Math.ceil(Number(text)), RETRY_AFTER_SECONDS_MAX) : RETRY_AFTER_SECONDS;
}

/**
 * Reads the chat's own code in the beginning of the response: Slack sends it as text, the others in JSON. Nothing else of the
 * response is repeated.
 *
 * @param {Response} response
 * @returns {Promise<string | undefined>}
 */
async function codeOf(response) {
  const reader = response.body?.getReader();
  const text = Buffer.from((await reader?.read())?.value ?? []).toString();
  await reader?.cancel();
  const code = codeIn(text);
  return /^[A-Za-z0-9_]{1,40}$/.test(code) ? code : undefined;
}

/** @param {string} text */
function codeIn(text) {
  if (/^[a-z_]+$/.test(text)) return text;
  try {
    const { code, error } = JSON.parse(text);
    return String(code ?? error?.status ?? error?.code ?? "");
  } catch {
    return "";
  }
}
