import { choice, counted, flag, printable } from "@brand-records/command-line";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { CommandFailure, required, UsageFailure } from "../failure.ts";
import { command } from "../session.ts";
import { brandCheckOption } from "./options.ts";
import { notePause, printReceiver, RECEIVER_ARGUMENTS, receiverKey } from "./receiver-command.ts";

export const enable = command("enable", {
  summary: "deliver to a receiver again",
  description:
    "Deliver to a receiver again. Deliveries held while it was disabled are either released or dropped: choose --release or --drop. Released ones are sent now, also those that waited for another attempt.",
  arguments: RECEIVER_ARGUMENTS,
  options: {
    brand: brandCheckOption("receiver"),
    release: flag("--release", "send the held deliveries now"),
    drop: flag("--drop", "drop the held deliveries permanently"),
  },
  examples: [["brandctl receivers enable rcv_… --release", "it works again, and needs what it missed"]],
  run: async (session, { brand, release, drop }, receiverId: string) => {
    if (release === drop) {
      throw new UsageFailure(
        "Choose what to do with the held deliveries: --release sends them, --drop drops them permanently",
        "See brandctl receivers enable --help",
      );
    }
    const key = await receiverKey(session, receiverId, brand);
    const receivers = session.client("webhook.receivers");
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
  },
});

export const disable = command("disable", {
  summary: "hold a receiver's deliveries",
  description: "Stop delivering to a receiver. Its deliveries, old and new, are held until it is enabled or deleted.",
  arguments: RECEIVER_ARGUMENTS,
  options: { brand: brandCheckOption("receiver") },
  run: async (session, { brand }, receiverId: string) => {
    const key = await receiverKey(session, receiverId, brand);
    printReceiver(session, await session.client("webhook.receivers").disableReceiver(key));
  },
});

export const sendTest = command("test", {
  summary: "queue a test delivery to a receiver",
  description:
    'Queue a delivery of sample data, marked "test": true and signed like any other. Queued does not mean delivered: see deliveries show.',
  arguments: RECEIVER_ARGUMENTS,
  options: {
    brand: brandCheckOption("receiver"),
    type: choice("--type <type>", "one that it selects (default: the first)", EVENT_TYPE_NAMES),
    next: flag("--next", "sign it with the next signing secret alone: does the receiver have that one?"),
  },
  examples: [
    ["brandctl receivers test rcv_… --type payout.paid", "does it accept payouts?"],
    ["brandctl receivers test rcv_… --next", "may its next secret be activated?"],
  ],
  run: async (session, { brand, type, next = false }, receiverId: string) => {
    const key = await receiverKey(session, receiverId, brand);
    const receivers = session.client("webhook.receivers");
    const { receiver } = await receivers.getReceiver(key);
    const queued = await receivers.sendTest({ ...key, type, next });
    session.print(queued, ({ cyan }) => `${cyan(printable(queued.delivery_id))} is queued.`);
    notePause(session, required(receiver, "receiver"));
    session.note(({ dim }) => dim(printable(`To see the result: brandctl deliveries show ${queued.delivery_id}`)));
  },
});
