import { choice, type Column, counted, parsedJson, shortTime } from "@brand-records/command-line";
import { AppError } from "@brand-records/errors";
import type { DeadLetter, Event } from "@brand-records/proto/webhook/v1";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { namedBrand } from "../brand-lookup.ts";
import type { EventsClient } from "../connection/clients.ts";
import { readPages, WEBHOOK_PAGE_SIZE_MAX } from "../connection/read-pages.ts";
import { CommandFailure } from "../failure.ts";
import { command, group } from "../session.ts";
import { brandOption, limitOption } from "./options.ts";
import { printList } from "./print-list.ts";

const EVENT_COLUMNS: readonly Column<Event>[] = [
  { title: "ID", cell: ({ id }) => id, paint: "cyan" },
  { title: "TYPE", cell: ({ type }) => type },
  { title: "CREATED (UTC)", cell: ({ created_at }) => shortTime(created_at) },
  { title: "RECEIVED", cell: ({ received_at }) => shortTime(received_at) },
  { title: "RECORD", cell: recordIdOf },
];

function recordIdOf({ data_json }: Event): string {
  const data = parsedJson(data_json) as { readonly id?: unknown } | null | undefined;
  return typeof data?.id === "string" ? data.id : "-";
}

const list = command("list", {
  summary: "list a brand's events",
  description: "List a brand's events, newest first, delivered or not. They are kept for 30 days.",
  options: {
    brand: brandOption("the brand"),
    type: choice("--type <type>", "only those of this type (default: all)", EVENT_TYPE_NAMES),
    limit: limitOption(),
  },
  examples: [
    ["brandctl events list --brand brd_… --type payout.paid --json | jq -r '.events[].data_json'", "what receivers got about payouts"],
  ],
  run: async (session, { brand, type, limit }) => {
    const brandId = namedBrand(session, brand);
    const client = session.client("webhook.events");
    const filter = { brand_id: brandId, type, count_receivers: false };
    const listing = await readPages(limit, WEBHOOK_PAGE_SIZE_MAX, "events", (page) => client.listEvents({ ...filter, ...page }));
    const empty = `The brand has no ${type === undefined ? "" : `${type} `}events.`;
    await printList(session, listing, { brandId, name: "events", columns: EVENT_COLUMNS, limit, empty });
  },
});

const DEAD_LETTER_COLUMNS: readonly Column<DeadLetter>[] = [
  { title: "POSITION", cell: ({ position }) => position, paint: "cyan" },
  { title: "DEAD SINCE (UTC)", cell: ({ dead_lettered_at }) => shortTime(dead_lettered_at) },
  { title: "KEY", cell: ({ key }) => key },
  { title: "BYTES", cell: ({ bytes }) => String(bytes), align: "right" },
  { title: "REASON", cell: ({ reason }) => reason, wraps: true },
];

const listDead = command("list-dead", {
  summary: "list dead letters",
  description: "List dead letters: messages of the event log that the intake could not read, oldest first, each with the reason.",
  options: { limit: limitOption(WEBHOOK_PAGE_SIZE_MAX) },
  run: async (session, { limit }) => {
    const page_size = Math.min(limit, WEBHOOK_PAGE_SIZE_MAX);
    const { dead_letters, total } = await session.client("webhook.events").listDeadLetters({ page_size });
    const none = "There are no dead letters: every message was read.";
    session.printTable({ dead_letters, total }, DEAD_LETTER_COLUMNS, dead_letters, none);
    const others = total - dead_letters.length;
    if (others > 0) session.note(({ dim }) => dim(`And ${others.toLocaleString("en")} more: see --limit`));
    if (total > 0) session.note(({ dim }) => dim("Once the cause is fixed: brandctl events replay-dead"));
  },
});

const replayDead = command("replay-dead", {
  summary: "replay all dead letters",
  description:
    "Replay all dead letters. A message that still cannot be read becomes a dead letter again. Safe to repeat. Takes up to 10 minutes; one replay runs at a time.",
  run: async (session) => {
    const { replayed } = await replayDeadLetters(session.client("webhook.events"));
    session.print({ replayed }, () => (replayed === 0 ? "There were no dead letters." : `${counted(replayed, "message")} replayed.`));
    if (replayed > 0) session.note(({ dim }) => dim("brandctl events list-dead shows those that failed again."));
  },
});

async function replayDeadLetters(client: EventsClient): Promise<{ readonly replayed: number }> {
  try {
    return await client.replayDeadLetters({});
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== "request_conflict") throw error;
    throw new CommandFailure(error.kind, "Another command is replaying the dead letters.", {
      cause: error,
      hint: "brandctl events list-dead shows what is left once it is done; this command then replays it",
    });
  }
}

export const eventsCommand = group("events", "list a brand's events; list and replay dead letters", [list, listDead, replayDead]);
