import { Option, type Command } from "commander";
import { printable } from "../output/printable.ts";
import type { Shell } from "../shell.ts";
import { EVENT_TYPES } from "./event-types.ts";
import { examples } from "./examples.ts";
import { ofReceiver } from "./of-receiver.ts";

export function sendTest(shell: Shell): Command {
  return ofReceiver("test", "queue a test delivery to a receiver")
    .description(
      'Queue a delivery of sample data, marked "test": true and signed like any other. Queued does not mean delivered: deliveries show tells.',
    )
    .addOption(new Option("--type <type>", "one that it selects (default: the first of them)").choices(EVENT_TYPES))
    .addHelpText("after", examples(["brandctl receivers test rcv_… --brand brd_… --type payout.paid", "does it take payouts?"]))
    .action((receiverId: string, { brand, type }: { brand: string; type?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const queued = await (await session.receivers()).sendTest({ brand_id: brand, receiver_id: receiverId, type });
        session.print(queued, ({ cyan }) => `${cyan(printable(queued.delivery_id))} is queued.`);
        session.note(({ dim }) => dim(printable(`What came of it: brandctl deliveries show ${queued.delivery_id} --brand ${brand}`)));
      }),
    );
}
