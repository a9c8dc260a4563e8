import { AppError } from "@brand-records/errors";
import type { DeadLetter, Event } from "@brand-records/proto/webhook/v1";
import { Command, Option } from "commander";
import type { EventsClient } from "../connection/clients.ts";
import { CommandFailure } from "../failure.ts";
import { counted, shortTime, table, type Column } from "../output/table.ts";
import type { Colors } from "../session.ts";
import type { Shell } from "../shell.ts";
import { brandOf } from "./brand-argument.ts";
import { EVENT_TYPES } from "./event-types.ts";
import { examples } from "./examples.ts";
import { parseLimit } from "./parse-limit.ts";
import { readEvents } from "./read-events.ts";
import { whyNone } from "./why-none.ts";

const LIMIT_DEFAULT = 50;
/** As many as the service answers at once. */
const DEAD_LETTERS_MAX = 200;

export function eventsCommand(shell: Shell): Command {
  const events = new Command("events").description("what happened to brands' records, and what of it could not be taken in");
  events.addCommand(list(shell));
  events.addCommand(dead(shell));
  events.addCommand(replayDead(shell));
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
    .description("List a brand's events, newest first, whether they were delivered to anybody or not. They are kept for 30 days.")
    .argument("[brand]", "id of the brand")
    .option("--brand <id>", "the same")
    .addOption(new Option("--type <type>", "only those of this type (default: all)").choices(EVENT_TYPES))
    .option("--limit <count>", "at most so many", parseLimit, LIMIT_DEFAULT)
    .addHelpText(
      "after",
      examples([
        "brandctl events list --brand brd_… --type payout.paid --json | jq -r '.events[].data_json'",
        "what receivers got of payouts",
      ]),
    )
    .action((argument: string | undefined, { brand, type, limit }: ListOptions, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = brandOf(argument, brand, command);
        const { events, mayBeMore } = await readEvents(await session.events(), { brandId, type, limit });
        const what = `The brand has no ${type === undefined ? "" : `${type} `}events.`;
        const none = events.length === 0 ? await whyNone(session, brandId, what) : "";
        session.print({ events }, (colors) => table(eventColumns(colors), events, colors, none));
        if (mayBeMore) session.note(({ dim }) => dim(`Limited to ${limit}; there may be older ones: see --limit`));
      }),
    );
}

function dead(shell: Shell): Command {
  return new Command("dead")
    .summary("list messages that could not be taken in")
    .description("List messages of the event log that could not be taken in and were set aside, oldest first, with the reason.")
    .option("--limit <count>", `at most so many, up to ${DEAD_LETTERS_MAX}`, parseLimit, LIMIT_DEFAULT)
    .action(({ limit }: { limit: number }, command: Command) =>
      shell.act(command, async (session) => {
        const page_size = Math.min(limit, DEAD_LETTERS_MAX);
        const { dead_letters, total } = await (await session.events()).listDeadLetters({ page_size });
        session.print({ dead_letters, total }, (colors) =>
          table(deadLetterColumns(colors), dead_letters, colors, "Nothing is set aside: every message was taken in."),
        );
        const others = total - dead_letters.length;
        if (others > 0) session.note(({ dim }) => dim(`And ${others.toLocaleString("en")} more: see --limit`));
        if (total > 0) session.note(({ dim }) => dim("Once the reason is mended: brandctl events replay-dead"));
      }),
    );
}

function replayDead(shell: Shell): Command {
  return new Command("replay-dead")
    .summary("take in again what was set aside")
    .description(
      "Take in again what was set aside until now. What still cannot be taken in is set aside again. Safe to repeat. Takes up to\n" +
        "10 minutes; replays take turns.",
    )
    .action((_options: object, command: Command) =>
      shell.act(command, async (session) => {
        const { replayed } = await replay(await session.events());
        session.print({ replayed }, () =>
          replayed === 0 ? "Nothing was set aside." : `${counted(replayed, "message")} on the way again.`,
        );
        if (replayed > 0) session.note(({ dim }) => dim("brandctl events dead shows whether any came back."));
      }),
    );
}

async function replay(client: EventsClient): Promise<{ readonly replayed: number }> {
  try {
    return await client.replayDeadLetters({});
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== "request_conflict") throw error;
    throw new CommandFailure(error.kind, "What was set aside is being replayed already, by somebody else's command.", {
      cause: error,
      hint: "brandctl events dead shows what is left once that is done; the same command then replays it",
    });
  }
}

function eventColumns(colors: Colors): Column<Event>[] {
  return [
    { title: "ID", cell: ({ id }) => id, paint: colors.cyan },
    { title: "TYPE", cell: ({ type }) => type },
    { title: "CREATED (UTC)", cell: ({ created_at }) => shortTime(created_at) },
    { title: "TAKEN IN", cell: ({ received_at }) => shortTime(received_at) },
    { title: "RECORD", cell: recordOf },
  ];
}

/** Its id, as the event's data tells it. */
function recordOf({ data_json }: Event): string {
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
    { title: "SET ASIDE (UTC)", cell: ({ dead_lettered_at }) => shortTime(dead_lettered_at) },
    { title: "KEY", cell: ({ key }) => key },
    { title: "BYTES", cell: ({ bytes }) => String(bytes), align: "right" },
    { title: "REASON", cell: ({ reason }) => reason },
  ];
}
