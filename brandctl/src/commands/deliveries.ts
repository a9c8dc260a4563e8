import { choice, option } from "@brand-records/command-line";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { brandOf, namedBrand } from "../brand-lookup.ts";
import { readPages, WEBHOOK_PAGE_SIZE_MAX } from "../connection/read-pages.ts";
import { required, UsageFailure } from "../failure.ts";
import { deliveriesTable, deliveryText } from "../output/delivery-text.ts";
import type { Pause } from "../output/outcome-text.ts";
import { command, group, type Session } from "../session.ts";
import { replay } from "./deliveries-replay.ts";
import {
  brandCheckOption,
  brandIdOption,
  DELIVERY_HELP,
  idArgument,
  idOption,
  limitOption,
  listParser,
  parseRecordId,
  parseTimeText,
  receiverOption,
} from "./options.ts";
import { noteLimit } from "./print-list.ts";

const STATUS_CLASSES = ["2xx", "3xx", "4xx", "5xx", "none"];
const STATES = ["pending", "sending", "held", "delivered", "failed"];

const list = command("list", {
  summary: "list deliveries of a receiver, of an event or of a record",
  description:
    "List deliveries of a receiver, of an event or of a record, newest first: those in progress, and those finished in the last 30 days. " +
    "With several filters, those that match all.",
  options: {
    receiver_id: receiverOption(),
    event_id: idOption("--event <id>", "event", "id of the event (evt_…), see events list"),
    record_id: option("--record <id>", "id of the record that the events are about, such as sub_…", parseRecordId),
    brand: brandIdOption("fail unless the receiver or event is this brand's; of --record alone: the brand (default: $BRAND)"),
    states: option(
      "--state <states>",
      `only those in these states, comma-separated: ${STATES.join(", ")} (default: all)`,
      listParser("--state", STATES, { one: "a state", many: "states" }),
    ),
    type: choice("--type <type>", "only those of events of this type (default: all)", EVENT_TYPE_NAMES),
    status_class: choice("--status <class>", "only those whose last attempt got such an HTTP status; none: no response", STATUS_CLASSES),
    from: option("--since <time>", "only those created at this RFC 3339 time or later, such as 2026-11-21T08:30:00Z", parseTimeText),
    to: option("--until <time>", "only those created before this RFC 3339 time", parseTimeText),
    limit: limitOption(),
  },
  examples: [
    ["brandctl deliveries list --receiver rcv_… --state failed", "what the receiver never accepted, after all attempts"],
    ["brandctl deliveries list --receiver rcv_… --state pending,sending --type payout.paid", "payouts that are still on their way"],
    ["brandctl deliveries list --receiver rcv_… --status 5xx", "what made the receiver fail"],
    ["brandctl deliveries list --record po_… --brand brd_…", "where everything about a payout went"],
    ["brandctl deliveries list --event evt_…", "where an event went"],
  ],
  run: async (session, { brand, limit, ...filter }) => {
    const brand_id = await brandOfList(session, filter, brand);
    const { receiver_id = "", states = [] } = filter;
    const client = session.client("webhook.deliveries");
    let pause: Pause = { failures_in_a_row: 0 };
    const { items: deliveries, mayBeMore } = await readPages(limit, WEBHOOK_PAGE_SIZE_MAX, "deliveries", async (page) => {
      const response = await client.listDeliveries({ brand_id, ...filter, receiver_id, states, ...page });
      pause = { paused_until: response.paused_until, failures_in_a_row: response.failures_in_a_row };
      return response;
    });
    session.print({ deliveries, ...pause }, (colors) => deliveriesTable(deliveries, pause, colors, noneText(filter)));
    noteLimit(session, mayBeMore, limit);
  },
});

type Given = string | undefined;
type NamedIn = Readonly<Record<"receiver_id" | "event_id" | "record_id", Given>>;

async function brandOfList(session: Session, { receiver_id, event_id, record_id }: NamedIn, brand: Given): Promise<string> {
  if (receiver_id !== undefined) return brandOf(session, "receiver", receiver_id, brand);
  if (event_id !== undefined) return brandOf(session, "event", event_id, brand);
  if (record_id !== undefined) return namedBrand(session, brand);
  throw new UsageFailure("Name a receiver, an event or a record: --receiver, --event, --record", "See brandctl deliveries list --help");
}

function noneText({ receiver_id, states, event_id, record_id, ...filter }: NamedIn & { readonly states: string[] | undefined }): string {
  const named = { receiver: receiver_id, event: event_id, record: record_id };
  const [noun, ...others] = Object.entries(named).flatMap(([name, id]) => (id === undefined ? [] : [name]));
  const isOtherwiseFiltered = others.length > 0 || Object.values(filter).some((value) => value !== undefined);
  const inStates = states === undefined ? "" : `${states.join(" or ")} `;
  return `The ${noun} has no ${inStates}deliveries${isOtherwiseFiltered ? " that match" : ""}.`;
}

const show = command("show", {
  summary: "show a delivery and every attempt",
  description:
    "Show a delivery and every attempt, with the beginning of each response. With --json also the whole response (base64), the headers of " +
    "each request without its signatures, and the raw body.",
  arguments: [idArgument("delivery", DELIVERY_HELP)],
  options: { brand: brandCheckOption("delivery") },
  examples: [
    ["brandctl deliveries show dlv_… --json | jq -r '.attempts[-1].response' | base64 -d", "the last response, byte for byte"],
    ["brandctl deliveries show dlv_… --json | jq -j .body", "the raw body, as the signatures cover it"],
  ],
  run: async (session, { brand }, delivery_id: string) => {
    const brand_id = await brandOf(session, "delivery", delivery_id, brand);
    const client = session.client("webhook.deliveries");
    const { attempts, paused_until, failures_in_a_row, body, ...response } = await client.getDelivery({ brand_id, delivery_id });
    const delivery = required(response.delivery, "delivery");
    const pause: Pause = { paused_until, failures_in_a_row };
    const document = {
      delivery,
      attempts: attempts.map((attempt) => ({ ...attempt, response: Buffer.from(attempt.response).toString("base64") })),
      ...pause,
      body: body == null ? null : Buffer.from(body).toString("utf8"),
    };
    session.print(document, (colors) => deliveryText(delivery, attempts, pause, colors));
  },
});

export const deliveriesCommand = group("deliveries", "show deliveries and their attempts, and send them again", [list, show, replay]);
