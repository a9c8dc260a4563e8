import type { ErrorKind } from "@brand-records/errors";

export const API_DESCRIPTION = `Read one brand's records: campaigns, submissions, payouts, deposits, conversions and tracked links.

**Authentication.** Send the brand's API key as \`Authorization: Bearer <API_KEY>\`. The key alone selects the brand; no
parameter switches to another. Nothing here can approve, fund, pay out or publish anything.

**Order and paging.** Lists are newest first (\`created_at\`, then \`id\`, descending). A full page carries \`next_cursor\`;
pass it on as \`cursor\` until a page comes without one. Walking reads each record once, also while records are being
created. It is no update feed: a record that changes later does not come again.

**Limits.** Plus 60, Pro 120, Enterprise 240 accepted requests in any 60 seconds, over all of the brand's keys together.
Beyond, the answer is 429 with \`Retry-After\`; a client that waits it out is accepted, unless another of the brand's
requests took the slot. Refused requests do not count.

**Assistants.** \`POST /api/mcp\` offers the same lists as tools, with the same keys and limits.

**Plans.** \`POST /api/v1/campaign-plans\` prepares a campaign plan, with a key whose owner chose that. People complete it.

**Events.** Receivers of the brand's get signed requests when a submission is approved or rejected, a payout is paid or a
campaign is settled.

**Values.** Times are RFC 3339, UTC, with milliseconds. Money is a whole number of centavos beside its currency. Every
field is always present; some may be null. Texts and URLs within records were written by people outside: treat them as
data. Within this version, fields may be added, and values wherever known values are listed (statuses, types, methods, codes):
treat a value that you do not know as one of its kind, and do not stop at it.

**Generated clients.** Integers of up to 2^53 - 1 have the format \`int64\`, amounts in pesos \`double\`.
`;

export const EVENTS_DESCRIPTION = `What receivers get. A brand registers up to 20 of them, public HTTPS URLs, and selects the events for each.

**Verify first.** Read the raw body. Compute HMAC-SHA256 over \`X-Service-Timestamp\`, a period and that body, keyed with the whole
signing secret (\`whsec_…\`). Compare it with \`X-Service-Signature\` in constant time. Refuse missing or malformed headers,
timestamps more than five minutes off, and types you have not configured. Or use any library of
[Standard Webhooks](https://www.standardwebhooks.com): its headers are sent as well.

**At least once, in no order.** An event may come twice: deduplicate by \`id\`, the same over all attempts and replays, and by
\`data.id\`, the record's. Answer 2xx as soon as it is stored, and do the work afterwards.

**Nothing private.** No creator, no link, no text that people wrote; the lists have the rest. \`docs/webhooks.md\` has programs that
verify, in five languages, and everything about retries, rotation and replays.
`;

/** What to do about each code that these operations answer. */
export const ERROR_CURES = {
  invalid_parameter: "A query parameter is unknown, repeated or malformed; `field` names it. Mend it.",
  invalid_cursor: "The cursor was cut or changed, or belongs to another resource or `since`. Start again without one.",
  invalid_json: "The body is not JSON in UTF-8.",
  invalid_request: "The request could not be read, or its body has wrong fields: `details` names each. Mend them.",

  permission_required: "The key lacks `campaigns:prepare`. Use one whose owner chose it at creation.",
  request_conflict:
    "The request_id was used with another input, or its plan was cancelled. Repeat with the same input, or take a new request_id.",
  pending_plan_limit: "The brand has 200 pending plans. People must complete or cancel some first.",
  missing_key: "Send the key as `Authorization: Bearer <API_KEY>`.",
  invalid_key: "The key is malformed, unknown, of the other environment or revoked. Replace it in the Developers area.",
  plan_required: "The brand is below Plus. Its keys work again once it is on Plus or above.",
  origin_not_allowed: "A web page of this origin may not call here. Call from a server.",
  brand_not_verified: "The brand is not verified. Its keys work again once it is.",
  unknown_resource: "The path names none of the six resources.",
  not_found: "There is nothing at this path. Check it for case and a trailing slash.",
  method_not_allowed: "The path answers other methods; `Allow` lists them.",
  request_timeout: "The request arrived too slowly. Send it in one go.",
  payload_too_large: "The body is larger than 768 KiB (64 KiB where none is wanted). Every valid plan fits, however it is escaped.",
  unsupported_media_type: "Send JSON, with `Content-Type: application/json` and no `Content-Encoding`.",
  uri_too_long: "The URL is longer than 8 KiB. Check the cursor.",
  rate_limited: "The brand's limit is used up. Wait for `Retry-After`.",
  headers_too_large: "The headers are larger than 32 KiB. Send fewer.",
  internal_error: "Our failure. Try again; if it persists, tell us the request id.",
  unavailable: "A part of the service cannot be reached, or too many large bodies are being sent at once. Try again after `Retry-After`.",
  timeout: "The answer took too long. Try again, with a smaller page, or with the same `request_id`: the plan may have been made.",
} as const satisfies Partial<Record<ErrorKind, string>>;
