import { EVENT_TYPE_NAMES, type EventType } from "@brand-records/brand-events";
import { eventExample } from "./event-examples.ts";
import { eventSchema, eventSchemaName } from "./event-schemas.ts";
import { receiverHeaders, webhookParameters } from "./webhook-headers.ts";

const SUMMARIES: Readonly<Record<EventType, string>> = {
  "submission.approved": "A submission was approved.",
  "submission.rejected": "A submission was rejected.",
  "payout.paid": "A payout was paid.",
  "campaign.settled": "A campaign was settled.",
};

/** How the receiver's answers are understood. */
const RESPONSES = {
  "2XX": {
    description:
      "Taken, if the answer is over within 15 seconds of the beginning of the attempt. Its body means nothing; up to 16 KiB of it are kept for people to read.",
  },
  "410": { description: "No more of this: the receiver is disabled at once." },
  "429": { description: "Too many. Attempted again as below, but not before `Retry-After`.", headers: receiverHeaders },
  "503": { description: "Not now. Attempted again as below, but not before `Retry-After`.", headers: receiverHeaders },
  default: {
    description:
      "Anything else, redirects included, is a failed attempt, and so is none in time. There are ten: at once, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, each pause lengthened by up to 20%.",
  },
};

/**
 * The four events, as OpenAPI describes requests that come from us. All of it stands here and not among the components:
 * oapi-codegen 2.8 drops components to which only webhooks refer, and then writes code that does not compile.
 */
export const webhooks = Object.fromEntries(
  EVENT_TYPE_NAMES.map((type) => [
    type,
    {
      post: {
        operationId: `receive${eventSchemaName(type)}`,
        tags: ["Events"],
        summary: SUMMARIES[type],
        description: `Sent to each receiver that selects \`${type}\`: **you** receive this request. It carries no key but a signature.`,
        security: [],
        parameters: webhookParameters,
        requestBody: {
          required: true,
          description: "The same bytes with every attempt and replay. Verify them before anything parses them.",
          content: {
            "application/json": { schema: eventSchema(type), example: eventExample(type) },
          },
        },
        responses: RESPONSES,
      },
    },
  ]),
);
