import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "@brand-records/errors";
import type { Replay, ReplayEventsRequest } from "@brand-records/proto/webhook/v1";
import { counted, flag, openProgressBar, option, printable, shortTime } from "@brand-records/command-line";
import { brandOf } from "../brand-lookup.ts";
import type { DeliveriesClient } from "../connection/clients.ts";
import { Interrupted, required, UsageFailure } from "../failure.ts";
import { DELIVERY_COLUMNS } from "../output/delivery-text.ts";
import { command, type Session } from "../session.ts";
import { brandCheckOption, DELIVERY_HELP, idArgument, idOption, parseTimeText, receiverOption } from "./options.ts";
import { notePause } from "./receiver-command.ts";

/** How often the progress of a replay is read: often at first, as most are short. */
const POLL_MS_MIN = 50;
const POLL_MS_MAX = 500;

export const replay = command("replay", {
  summary: "send a delivery again, or all events since a time",
  description:
    "Send a delivery's event to its receiver again, from attempt 1; a pending delivery becomes due immediately instead.\n\n" +
    "With --receiver and --since: send again all events after a time, of the types that the receiver selects; with --failed, only those that the receiver has not accepted and that are no longer tried. " +
    "They are queued gradually; the replay continues without brandctl, and --follow waits for it. Once it has finished, the same command sends everything again.",
  arguments: [idArgument("delivery", DELIVERY_HELP, "[delivery]")],
  options: {
    receiver: receiverOption(),
    since: option("--since <time>", "send again events after this RFC 3339 time, such as 2026-11-21T08:30:00Z", parseTimeText),
    until: option("--until <time>", "with --since: up to this RFC 3339 time (default: now)", parseTimeText),
    failed: flag("--failed", "with --since: only events whose deliveries failed"),
    wait: flag("--wait", "wait until all events are queued"),
    follow: idOption("--follow <replay>", "replay", "wait for a replay that was started (rpl_…)"),
    brand: brandCheckOption("delivery, the receiver or the replay"),
  },
  examples: [
    ["brandctl deliveries replay dlv_…", "one delivery, now that the receiver works again"],
    ["brandctl deliveries replay --receiver rcv_… --since 2026-11-21T00:00:00+08:00 --wait", "a lost day"],
    ["brandctl deliveries replay --receiver rcv_… --since 2026-11-21T00:00:00+08:00 --failed", "only what failed since then"],
  ],
  run: async (session, { brand, ...request }, deliveryId: string | undefined) => {
    const { receiver, since, until, failed = false, wait = false, follow } = request;
    const options = Object.values(request).filter((given) => given !== undefined).length;
    if (deliveryId !== undefined && options === 0) {
      return replayDelivery(session, await brandOf(session, "delivery", deliveryId, brand), deliveryId);
    }
    if (deliveryId === undefined && follow !== undefined && options === 1) {
      return followReplay(session, await brandOf(session, "replay", follow, brand), follow);
    }
    if (deliveryId === undefined && receiver !== undefined && since !== undefined && follow === undefined) {
      const brand_id = await brandOf(session, "receiver", receiver, brand);
      return replaySince(session, { brand_id, receiver_id: receiver, since, until, failed_only: failed }, wait);
    }
    throw new UsageFailure("Name either a delivery, or --receiver and --since, or --follow", "See brandctl deliveries replay --help");
  },
});

async function replayDelivery(session: Session, brand_id: string, delivery_id: string): Promise<void> {
  const client = session.client("webhook.deliveries");
  const pause = await client.getDelivery({ brand_id, delivery_id });
  const response = await client.replayDelivery({ brand_id, delivery_id });
  const delivery = required(response.delivery, "delivery");
  session.printTable({ delivery }, DELIVERY_COLUMNS, [delivery]);
  notePause(session, pause);
  session.note(({ dim }) => dim(printable(`To see the result: brandctl deliveries show ${delivery.id}`)));
}

async function replaySince(session: Session, request: ReplayEventsRequest, wait: boolean): Promise<void> {
  const receiver = required((await session.client("webhook.receivers").getReceiver(request)).receiver, "receiver");
  const client = session.client("webhook.deliveries");
  const response = await client.replayEvents(request).catch(async (error: unknown) => {
    // Another is in progress, which the hint names.
    if (error instanceof AppError && error.kind === "request_conflict") {
      session.ids.set("REPLAY", required((await client.getLatestReplay(request)).replay, "replay").id);
    }
    throw error;
  });
  const started = required(response.replay, "replay");
  const last = wait ? await untilFinished(session, client, request.brand_id, started) : started;
  session.print({ replay: last }, () => replayText(last));
  notePause(session, receiver);
  if (wait) return;
  session.note(({ dim }) => dim(printable(`The replay continues. To follow it: ${followCommand(started)}`)));
  session.note(({ dim }) => dim(printable(`To see the result: brandctl deliveries list --receiver ${request.receiver_id}`)));
}

async function followReplay(session: Session, brand_id: string, replay_id: string): Promise<void> {
  const client = session.client("webhook.deliveries");
  const found = required((await client.getReplay({ brand_id, replay_id })).replay, "replay");
  const last = await untilFinished(session, client, brand_id, found);
  session.print({ replay: last }, () => replayText(last));
}

/** Starts nothing, whether the replay still runs or not: repeating the command that started it may send everything again. */
const followCommand = ({ id }: Replay): string => `brandctl deliveries replay --follow ${id}`;

async function untilFinished(
  session: Session,
  client: Pick<DeliveriesClient, "getReplay">,
  brand_id: string,
  started: Replay,
): Promise<Replay> {
  const { interrupted } = session.terminal;
  const bar = openProgressBar(session, "Replaying", started.total, { unit: "events", atEnd: "" });
  let replay = started;
  try {
    for (let pollMs = POLL_MS_MIN; replay.finished_at == null; pollMs = Math.min(2 * pollMs, POLL_MS_MAX)) {
      await pause(pollMs, undefined, { signal: interrupted });
      replay = required((await client.getReplay({ brand_id, replay_id: replay.id })).replay, "replay");
      bar.update(replay.queued, replay.queued);
    }
    return replay;
  } catch (error) {
    if (!interrupted.aborted) throw error;
    throw new Interrupted(
      `Stopped waiting after ${counted(replay.queued, "event")}. The replay continues.`,
      `to follow it: ${followCommand(replay)}`,
    );
  } finally {
    bar.stop();
  }
}

function replayText({ queued, total, since, until, failed_only, finished_at, cancelled_at }: Replay): string {
  const range = `from ${shortTime(since)} to ${shortTime(until)} UTC`;
  const noun = failed_only ? "failed event" : "event";
  if (cancelled_at != null) return `Cancelled: ${counted(queued, noun)} ${range} queued again.`;
  if (finished_at != null) return `${counted(queued, noun)} ${range} queued again.`;
  return `${queued.toLocaleString("en")} of ${counted(total, noun)} ${range} queued so far.`;
}
