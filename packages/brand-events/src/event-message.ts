import { z } from "zod";
import { EVENT_TYPE_NAMES, EVENT_TYPES } from "./event-types.ts";

/** An event of ours has some 600 bytes; contract allows 20 KiB. */
export const EVENT_MESSAGE_BYTES_MAX = 20 * 1024;

const id = (prefix: string, of: string): z.ZodString =>
  z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9a-z]{1,40}$`), `must be ${prefix}_ and 1 to 40 of 0-9 and a-z`)
    .describe(of);
/** Date.parse takes the 30th of February for the 2nd of March; Postgres refuses it, and the year 0. */
const isTime = (text: string): boolean => {
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString() === text && !text.startsWith("0000");
};
const time = (of: string): z.ZodString =>
  z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/, "must be RFC 3339, UTC, with milliseconds")
    .refine(isTime, "is no time there ever was")
    .meta({ format: "date-time" })
    .describe(of);
const centavos = (of: string): z.ZodInt => z.int().min(0).describe(`${of}, in centavos`);

const common = {
  id: z.string().describe("The record's id."),
  campaign_id: id("cmp", "The campaign it belongs to; of a campaign, its own id."),
  currency: z.literal("PHP").describe("Of every *_centavos."),
};

// Open: a later release may add fields, and whoever reads an earlier one passes them on.
const submission = z
  .looseObject({
    ...common,
    resource: z.literal("submissions"),
    id: id("sub", "The submission's id."),
    status: z.enum(["approved", "rejected"]),
    previous_status: z.string().describe("Its status before."),
    earned_centavos: centavos("What the creator has earned with it"),
    rejection_code: z.string().nullable().describe("Why it was rejected; null unless it was."),
    reviewed_at: time("When it was reviewed.").nullable(),
  })
  .meta({ id: "SubmissionReviewed", description: "Of submission.approved and submission.rejected." });
const payout = z
  .looseObject({
    ...common,
    resource: z.literal("payouts"),
    id: id("po", "The payout's id."),
    status: z.literal("paid"),
    previous_status: z.string().describe("Its status before."),
    amount_centavos: centavos("What is paid out"),
    fee_centavos: centavos("What that costs"),
    submission_count: z.int().min(0).describe("Submissions it pays for."),
    conversion_count: z.int().min(0).describe("Conversions it pays for."),
    paid_at: time("When it was paid.").nullable(),
  })
  .meta({ id: "PayoutPaid", description: "Of payout.paid." });
const campaign = z
  .looseObject({
    ...common,
    resource: z.literal("campaigns"),
    id: id("cmp", "The campaign's id."),
    type: z.enum(["blitz", "ugc", "package", "affiliate"]),
    status: z.literal("settled"),
    previous_status: z.string().describe("Its status before."),
    budget_centavos: centavos("Its budget"),
    committed_centavos: centavos("What was promised of it"),
    paid_centavos: centavos("What was paid of it"),
    settled_at: time("When it was settled.").nullable(),
  })
  .meta({ id: "CampaignSettled", description: "Of campaign.settled." });

const resources = [...new Set(Object.values(EVENT_TYPES))].join(", ");
const data = z.discriminatedUnion("resource", [submission, payout, campaign], {
  error: ({ code }) => (code === "invalid_union" ? `must be one of ${resources}` : undefined),
});

/** What `superRefine` demands, for whoever validates by the JSON Schema: one of these. */
const typeFitsData = EVENT_TYPE_NAMES.map((type) => {
  const status = type.slice(type.indexOf(".") + 1);
  const data = { type: "object", properties: { resource: { const: EVENT_TYPES[type] }, status: { const: status } } };
  return { properties: { type: { const: type }, data } };
});

/** A message of the log, `brand.events`: its value, as JSON. The key is the record's id; a header carries `traceparent`. */
export const eventMessageSchema = z
  .looseObject({
    id: id("evt", "The event's id: the same however often the event is told."),
    type: z.enum(EVENT_TYPE_NAMES, `must be one of ${EVENT_TYPE_NAMES.join(", ")}`).describe("What happened."),
    created_at: time("When it happened."),
    brand_id: id("brd", "Whose record it is."),
    data: data.describe("The record as it was right after."),
  })
  .superRefine(({ type, data }, context) => {
    const problem = (path: string, message: string): void =>
      context.addIssue({ code: "custom", path: ["data", path], message, input: data });
    if (EVENT_TYPES[type] !== data.resource) problem("resource", `must be ${EVENT_TYPES[type]} for ${type}`);
    else if (!type.endsWith(`.${data.status}`)) problem("status", `does not fit ${type}`);
  })
  .meta({ anyOf: typeFitsData });

export type EventMessage = z.output<typeof eventMessageSchema>;

/** Ours nest one deep. Beyond some thousands JSON.stringify and Postgres give up, at every attempt anew. */
const DEPTH_MAX = 32;

/** Says, in a line, why the message cannot be an event. It repeats nothing of the message's values. */
export class UnreadableMessage extends Error {
  override readonly name = "UnreadableMessage";
}

export interface ReadMessage {
  readonly event: EventMessage;
  /** `data` as receivers get it: what the writer wrote, nothing added. */
  readonly dataJson: string;
}

/** @throws UnreadableMessage */
export function readEventMessage(value: Buffer): ReadMessage {
  if (value.length > EVENT_MESSAGE_BYTES_MAX) {
    throw new UnreadableMessage(`too large: ${value.length} bytes, at most ${EVENT_MESSAGE_BYTES_MAX}`);
  }
  const message = parse(value);
  requireStorable(message);
  const parsed = eventMessageSchema.safeParse(message);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the message"} ${message}`);
    throw new UnreadableMessage(problems.slice(0, 5).join("; "));
  }
  // As it came: zod leaves out a field of the name __proto__.
  return { event: parsed.data, dataJson: JSON.stringify((message as { data: unknown }).data) };
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

function parse(value: Buffer): unknown {
  let text: string;
  try {
    text = UTF8.decode(value);
  } catch {
    throw new UnreadableMessage("not UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableMessage("not JSON");
  }
}

/** JSON may write what Postgres cannot keep, or what is not JSON any more when it is written again. */
function requireStorable(value: unknown, depth = 0): void {
  if (depth > DEPTH_MAX) throw new UnreadableMessage(`nests deeper than ${DEPTH_MAX}`);
  if (typeof value === "string") {
    if (value.includes("\0")) throw new UnreadableMessage("holds a NUL");
    if (!value.isWellFormed()) throw new UnreadableMessage("holds half a surrogate pair");
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new UnreadableMessage("holds a number beyond all bounds");
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      requireStorable(key, depth);
      requireStorable(item, depth + 1);
    }
  }
}
