import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { Option, type Command } from "commander";
import { counted, printable } from "@brand-records/command-line";
import { CommandFailure, required, UsageFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { examples } from "./options.ts";
import { notePause, printReceiver, receiverCommand, receiverKey } from "./receiver-command.ts";

interface EnableOptions {
  readonly brand?: string;
  readonly release?: boolean;
  readonly drop?: boolean;
}

export function enable(shell: Shell): Command {
  return receiverCommand("enable", "deliver to a receiver again")
    .description(
      "Deliver to a receiver again. Deliveries held while it was disabled are either released or dropped: choose --release or --drop. A released one is sent when it is due: now if that time has passed.",
    )
    .option("--release", "send the held deliveries, each when it is due")
    .option("--drop", "drop the held deliveries permanently")
    .addHelpText("after", examples(["brandctl receivers enable rcv_… --release", "it works again, and needs what it missed"]))
    .action((receiverId: string, { brand, release, drop }: EnableOptions, command: Command) =>
      shell.act(command, async (session) => {
        if ((release === true) === (drop === true)) {
          throw new UsageFailure(
            "Choose what to do with the held deliveries: --release sends them, --drop drops them permanently",
            "See brandctl receivers enable --help",
          );
        }
        const key = await receiverKey(session, receiverId, brand);
        const receivers = await session.receivers();
        const before = await receivers.getReceiver(key);
        if (required(before.receiver, "receiver").enabled) {
          printReceiver(session, before, { dropped: 0 });
          session.note(({ dim }) => dim("The receiver was enabled already: nothing changed, and nothing was dropped."));
          return;
        }
        const { dropped, ...response } = await receivers.enableReceiver({ ...key, held: drop === true ? "drop" : "release" });
        printReceiver(session, response, { dropped });
        if (!required(response.receiver, "receiver").enabled) {
          throw new CommandFailure("request_conflict", "The receiver was disabled again meanwhile, and stays so");
        }
        if (drop === true) session.note(({ dim }) => dim(`${counted(dropped, "delivery", "deliveries")} dropped.`));
      }),
    );
}

export function disable(shell: Shell): Command {
  return receiverCommand("disable", "hold a receiver's deliveries")
    .description("Stop delivering to a receiver. Its deliveries, old and new, are held until it is enabled or deleted.")
    .action((receiverId: string, { brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const key = await receiverKey(session, receiverId, brand);
        printReceiver(session, await (await session.receivers()).disableReceiver(key));
      }),
    );
}

interface TestOptions {
  readonly brand?: string;
  readonly type?: string;
  readonly next?: boolean;
}

export function sendTest(shell: Shell): Command {
  return receiverCommand("test", "queue a test delivery to a receiver")
    .description(
      'Queue a delivery of sample data, marked "test": true and signed like any other. Queued does not mean delivered: see deliveries show.',
    )
    .addOption(new Option("--type <type>", "one that it selects (default: the first)").choices(EVENT_TYPE_NAMES))
    .option("--next", "sign it with the next signing secret alone: does the receiver have that one?")
    .addHelpText(
      "after",
      examples(
        ["brandctl receivers test rcv_… --type payout.paid", "does it accept payouts?"],
        ["brandctl receivers test rcv_… --next", "may its next secret be activated?"],
      ),
    )
    .action((receiverId: string, { brand, type, next = false }: TestOptions, command: Command) =>
      shell.act(command, async (session) => {
        const key = await receiverKey(session, receiverId, brand);
        const receivers = await session.receivers();
        const { receiver } = await receivers.getReceiver(key);
        const queued = await receivers.sendTest({ ...key, type, next });
        session.print(queued, ({ cyan }) => `${cyan(printable(queued.delivery_id))} is queued.`);
        notePause(session, required(receiver, "receiver"));
        session.note(({ dim }) => dim(printable(`To see the result: brandctl deliveries show ${queued.delivery_id}`)));
      }),
    );
}
