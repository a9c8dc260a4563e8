import { EVENT_TYPE_NAMES, EVENT_TYPES } from "@brand-records/resources";
import { eventExample, eventSchema, eventSchemaName } from "./event-schemas.ts";
import { receiverHeaders, webhookParameters } from "./webhook-headers.ts";

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

/**
 * The events, as OpenAPI webhooks. Every schema is inline:
 * oapi-codegen 2.8 drops components to which only webhooks refer, and then writes code that does not compile.
 */
export const webhooks = Object.fromEntries(
  EVENT_TYPE_NAMES.map((type) => [
    type,
    {
      post: {
        operationId: `receive${eventSchemaName(type)}`,
        tags: ["Events"],
        summary: EVENT_TYPES[type].summary,
        description: `Sent to each receiver that selects \`${type}\`: **you** receive this request. It carries a signature, not a key.`,
        security: [],
        parameters: webhookParameters,
        requestBody: {
          required: true,
          description: "The same bytes with every attempt and replay. Verify them before parsing.",
          content: {
            "application/json": { schema: eventSchema(type), example: eventExample(type) },
          },
        },
        responses: RESPONSES,
      },
    },
  ]),
);
