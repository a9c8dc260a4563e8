import { setTimeout as pause } from "node:timers/promises";
import type { Replay } from "@brand-records/proto/webhook/v1";
import { Command } from "commander";
import type { DeliveriesClient } from "../connection/clients.ts";
import { Interrupted, UsageFailure } from "../failure.ts";
import { openProgressBar } from "../importing/progress-bar.ts";
import { deliveryColumns } from "../output/delivery-text.ts";
import { printable } from "../output/printable.ts";
import { counted, shortTime, table } from "../output/table.ts";
import type { Session } from "../session.ts";
import type { Shell } from "../shell.ts";
import { examples } from "./examples.ts";
import { RECEIVER_HELP } from "./of-receiver.ts";

/** How often a replay is looked at: soon at first, as most are short. */
const LOOK_MS_MIN = 50;
const LOOK_MS_MAX = 500;

interface ReplayOptions {
  readonly brand: string;
  readonly receiver?: string;
  readonly since?: string;
  readonly wait?: boolean;
}

export function replay(shell: Shell): Command {
  return new Command("replay")
    .summary("send a delivery once more, or all events since a time")
    .description(
      "Send a delivery's event to its receiver once more, from attempt 1; one that is pending is due at once instead. Or, with --receiver\n" +
        "and --since, all events since a time that the receiver selects: they are queued little by little, and go on without brandctl.",
    )
    .argument("[delivery]", "id of the delivery (dlv_…), as deliveries list shows it")
    .requiredOption("--brand <id>", "the brand whose delivery or receiver it is")
    .option("--receiver <id>", RECEIVER_HELP)
    .option("--since <time>", "RFC 3339, such as 2026-11-21T08:30:00Z: events after it are sent once more")
    .option("--wait", "wait until all of them are queued")
    .addHelpText(
      "after",
      examples(
        ["brandctl deliveries replay dlv_… --brand brd_…", "that one, now that the receiver is well"],
        ["brandctl deliveries replay --brand brd_… --receiver rcv_… --since 2026-11-21T00:00:00+08:00 --wait", "a lost day"],
      ),
    )
    .action((deliveryId: string | undefined, { brand, receiver, since, wait }: ReplayOptions, command: Command) =>
      shell.act(command, async (session) => {
        if (deliveryId !== undefined && receiver === undefined && since === undefined && wait !== true) {
          return replayOne(session, brand, deliveryId);
        }
        if (deliveryId === undefined && receiver !== undefined && since !== undefined) {
          return replaySince(session, { brandId: brand, receiverId: receiver, since, wait: wait === true });
        }
        throw new UsageFailure("say either which delivery, or --receiver and --since", "See brandctl deliveries replay --help");
      }),
    );
}

async function replayOne(session: Session, brand_id: string, delivery_id: string): Promise<void> {
  const { delivery } = await (await session.deliveries()).replayDelivery({ brand_id, delivery_id });
  if (delivery == null) throw new Error("webhook answered without a delivery");
  session.print({ delivery }, (colors) => table(deliveryColumns(colors), [delivery], colors, ""));
  session.note(({ dim }) => dim(printable(`What comes of it: brandctl deliveries show ${delivery.id} --brand ${brand_id}`)));
}

interface Asked {
  readonly brandId: string;
  readonly receiverId: string;
  readonly since: string;
  readonly wait: boolean;
}

async function replaySince(session: Session, { brandId, receiverId, since, wait }: Asked): Promise<void> {
  const client = await session.deliveries();
  const asked = answered((await client.replayEvents({ brand_id: brandId, receiver_id: receiverId, since })).replay);
  const last = wait ? await untilFinished(session, client, brandId, asked) : asked;
  session.print({ replay: last }, () => textOf(last));
  if (wait) return;
  session.note(({ dim }) => dim("It goes on by itself. The same command again with --wait follows it."));
  session.note(({ dim }) => dim(printable(`What comes of it: brandctl deliveries list --receiver ${receiverId} --brand ${brandId}`)));
}

async function untilFinished(
  session: Session,
  client: Pick<DeliveriesClient, "getReplay">,
  brand_id: string,
  asked: Replay,
): Promise<Replay> {
  const { interrupted } = session.terminal;
  const bar = openProgressBar(session, "Replaying", asked.total, { unit: "events", atEnd: "" });
  let replay = asked;
  try {
    for (let lookMs = LOOK_MS_MIN; replay.finished_at == null; lookMs = Math.min(2 * lookMs, LOOK_MS_MAX)) {
      await pause(lookMs, undefined, { signal: interrupted });
      replay = answered((await client.getReplay({ brand_id, replay_id: replay.id })).replay);
      bar.update(replay.queued, replay.queued);
    }
    return replay;
  } catch (error) {
    if (!interrupted.aborted) throw error;
    throw new Interrupted(
      `Stopped waiting after ${counted(replay.queued, "event")}. The replay goes on by itself.`,
      "the same command again follows it",
    );
  } finally {
    bar.stop();
  }
}

function textOf({ queued, total, since, until, finished_at }: Replay): string {
  const range = `from ${shortTime(since)} to ${shortTime(until)} UTC`;
  if (finished_at != null) return `${counted(queued, "event")} ${range} queued once more.`;
  return `${queued.toLocaleString("en")} of ${counted(total, "event")} ${range} queued so far.`;
}

function answered(replay: Replay | null | undefined): Replay {
  if (replay == null) throw new Error("webhook answered without a replay");
  return replay;
}
