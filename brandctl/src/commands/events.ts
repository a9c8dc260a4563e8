import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { AppError } from "@brand-records/errors";
import type { DeadLetter, Event } from "@brand-records/proto/webhook/v1";
import { Command, Option } from "commander";
import { type Column, counted, shortTime, table } from "@brand-records/command-line";
import { emptyListText, namedBrand } from "../brand-lookup.ts";
import type { EventsClient } from "../connection/clients.ts";
import { readPages, WEBHOOK_PAGE_SIZE_MAX } from "../connection/read-pages.ts";
import { CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";
import type { Colors } from "../terminal.ts";
import { brandOption, examples, limitOption, noteLimit } from "./options.ts";

export function eventsCommand(shell: Shell): Command {
  const events = new Command("events").description("list a brand's events; list and replay dead letters");
  for (const command of [list, listDead, replayDead]) events.addCommand(command(shell));
  return events;
}

interface ListOptions {
  readonly brand?: string;
  readonly type?: string;
  readonly limit: number;
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list a brand's events")
    .description("List a brand's events, newest first, delivered or not. They are kept for 30 days.")
    .addOption(brandOption("the brand"))
    .addOption(new Option("--type <type>", "only those of this type (default: all)").choices(EVENT_TYPE_NAMES))
    .addOption(limitOption())
    .addHelpText(
      "after",
      examples([
        "brandctl events list --brand brd_… --type payout.paid --json | jq -r '.events[].data_json'",
        "what receivers got about payouts",
      ]),
    )
    .action(({ brand, type, limit }: ListOptions, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = namedBrand(session, brand);
        const client = await session.events();
        const listing = await readPages(limit, WEBHOOK_PAGE_SIZE_MAX, async (page) => {
          const { events, next_after_id } = await client.listEvents({ brand_id: brandId, type, count_receivers: false, ...page });
          return { items: events, next: next_after_id };
        });
        const { items: events } = listing;
        const text = `The brand has no ${type === undefined ? "" : `${type} `}events.`;
        const none = events.length === 0 ? await emptyListText(session, brandId, text) : "";
        session.print({ events }, (colors) => table(eventColumns(colors), events, colors, none));
        noteLimit(session, listing, limit);
      }),
    );
}

function listDead(shell: Shell): Command {
  return new Command("list-dead")
    .summary("list dead letters")
    .description("List dead letters: messages of the event log that the intake could not read, oldest first, each with the reason.")
    .addOption(limitOption(WEBHOOK_PAGE_SIZE_MAX))
    .action(({ limit }: { limit: number }, command: Command) =>
      shell.act(command, async (session) => {
        const page_size = Math.min(limit, WEBHOOK_PAGE_SIZE_MAX);
        const { dead_letters, total } = await (await session.events()).listDeadLetters({ page_size });
        session.print({ dead_letters, total }, (colors) =>
          table(deadLetterColumns(colors), dead_letters, colors, "There are no dead letters: every message was read."),
        );
        const others = total - dead_letters.length;
        if (others > 0) session.note(({ dim }) => dim(`And ${others.toLocaleString("en")} more: see --limit`));
        if (total > 0) session.note(({ dim }) => dim("Once the cause is fixed: brandctl events replay-dead"));
      }),
    );
}

function replayDead(shell: Shell): Command {
  return new Command("replay-dead")
    .summary("replay all dead letters")
    .description(
      "Replay all dead letters. A message that still cannot be read becomes a dead letter again. Safe to repeat. Takes up to 10 minutes; one replay runs at a time.",
    )
    .action((_options: object, command: Command) =>
      shell.act(command, async (session) => {
        const { replayed } = await replayDeadLetters(await session.events());
        session.print({ replayed }, () => (replayed === 0 ? "There were no dead letters." : `${counted(replayed, "message")} replayed.`));
        if (replayed > 0) session.note(({ dim }) => dim("brandctl events list-dead shows those that failed again."));
      }),
    );
}

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

function eventColumns(colors: Colors): Column<Event>[] {
  return [
    { title: "ID", cell: ({ id }) => id, paint: colors.cyan },
    { title: "TYPE", cell: ({ type }) => type },
    { title: "CREATED (UTC)", cell: ({ created_at }) => shortTime(created_at) },
    { title: "RECEIVED", cell: ({ received_at }) => shortTime(received_at) },
    { title: "RECORD", cell: recordIdOf },
  ];
}

function recordIdOf({ data_json }: Event): string {
  try {
    const { id } = JSON.parse(data_json) as { id?: unknown };
    return typeof id === "string" ? id : "-";
  } catch {
    return "-";
  }
}

function deadLetterColumns(colors: Colors): Column<DeadLetter>[] {
  return [
    { title: "POSITION", cell: ({ position }) => position, paint: colors.cyan },
    { title: "DEAD SINCE (UTC)", cell: ({ dead_lettered_at }) => shortTime(dead_lettered_at) },
    { title: "KEY", cell: ({ key }) => key },
    { title: "BYTES", cell: ({ bytes }) => String(bytes), align: "right" },
    { title: "REASON", cell: ({ reason }) => reason, wraps: true },
  ];
}
