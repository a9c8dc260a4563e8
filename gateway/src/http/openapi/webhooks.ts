import { EVENT_TYPE_NAMES, EVENT_TYPES, type EventType } from "@brand-records/resources";
import { eventExample, eventSchemaName } from "./event-schemas.ts";
import { openText } from "./response-schema.ts";

/** Headers of a delivery. `Service` in their names is a setting of the webhook service. */
const HEADERS = [
  {
    name: "X-Service-Event",
    description: "The event's type. Not signed: rely on the `type` in the verified body.",
    schema: openText(EVENT_TYPE_NAMES),
    example: "payout.paid",
  },
  {
    name: "X-Service-Timestamp",
    description: "When this attempt was signed: Unix time in seconds. Refuse one that is more than five minutes off, either way.",
    schema: { type: "string", pattern: "^[0-9]+$" },
    example: "1795227310",
  },
  {
    name: "X-Service-Signature",
    description:
      "`sha256=` and the hex digest of HMAC-SHA256 over the timestamp, a period and the raw body, keyed with the bytes of the whole signing secret as shown at creation, `whsec_` included. Compare in constant time.",
    schema: { type: "string", pattern: "^sha256=[0-9a-f]{64}$" },
    example: "sha256=c0199a354dd415df21114ebf852525c37c2ff46713825f02b61c528cc945af3b",
  },
  {
    name: "X-Service-Attempt",
    description: "Counts the attempts of a delivery. It identifies nothing: deduplicate by the body's `id`.",
    schema: { type: "string", pattern: "^[1-9][0-9]*$" },
    example: "1",
  },
  {
    name: "webhook-id",
    description: "The event's id, for [Standard Webhooks](https://www.standardwebhooks.com) libraries.",
    schema: { type: "string" },
    example: "evt_01m7e9rkgsf6p8ke7n67az5qq0",
  },
  {
    name: "webhook-timestamp",
    description: "The same as `X-Service-Timestamp`.",
    schema: { type: "string", pattern: "^[0-9]+$" },
    example: "1795227310",
  },
  {
    name: "webhook-signature",
    description: "For those libraries. During a rotation of the secret it holds two signatures, separated by a space.",
    schema: { type: "string" },
    example: "v1,ngNjiD5kiOF9efNx1G9CSo08yhiv3DL3PbFm7+wG830=",
  },
] as const;

const webhookParameters = HEADERS.map((header) => ({ in: "header", required: true, ...header }));

/** Headers of a receiver's response. */
const receiverHeaders = {
  "Retry-After": {
    description: "The time until the next attempt: seconds, or an HTTP date. Up to 24 hours.",
    schema: { type: "string" },
    example: "120",
  },
};

/** What each response of a receiver means. */
const RESPONSES = {
  "2XX": {
    description:
      "Accepted, if the response ends within 15 seconds of the start of the attempt. Its body means nothing; up to 16 KiB are kept for people to read.",
  },
  "410": { description: "Gone: the receiver is disabled immediately." },
  "429": { description: "Too many requests. Attempted again as below, but not before `Retry-After`.", headers: receiverHeaders },
  "503": { description: "Unavailable. Attempted again as below, but not before `Retry-After`.", headers: receiverHeaders },
  default: {
    description:
      "Any other response, redirects included, is a failed attempt, and so is no response in time. A delivery has ten attempts: the first immediately, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, each delay lengthened by up to 20%.",
  },
};

const pathItemName = (type: EventType): string => `receive${eventSchemaName(type)}`;

/** What a receiver gets for each event. */
export const eventPathItems = Object.fromEntries(
  EVENT_TYPE_NAMES.map((type) => [
    pathItemName(type),
    {
      post: {
        operationId: pathItemName(type),
        tags: ["Events"],
        summary: EVENT_TYPES[type].summary,
        description: `Sent to each receiver that selects \`${type}\`: **you** receive this request. It carries a signature, not a key.`,
        security: [],
        parameters: webhookParameters,
        requestBody: {
          required: true,
          description: "The same bytes with every attempt and replay. Verify them before parsing.",
          content: {
            "application/json": { schema: { $ref: `#/components/schemas/${eventSchemaName(type)}` }, example: eventExample(type) },
          },
        },
        responses: RESPONSES,
      },
    },
  ]),
);

/**
 * The events, as OpenAPI webhooks. References: of webhooks that stand here openapi-generator makes requests to the service, which do not
 * compile in Python and TypeScript.
 */
export const webhooks = Object.fromEntries(
  EVENT_TYPE_NAMES.map((type) => [type, { $ref: `#/components/pathItems/${pathItemName(type)}` }]),
);
