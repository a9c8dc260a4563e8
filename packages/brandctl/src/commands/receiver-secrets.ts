import type { Command } from "commander";
import type { Shell } from "../shell.ts";
import { examples } from "./examples.ts";
import { answered, ofReceiver, show, showSecret } from "./of-receiver.ts";

export function rotate(shell: Shell): Command {
  return ofReceiver("rotate", "make a receiver's next signing secret; it is shown once")
    .description(
      "Make a receiver's next signing secret, shown once, now. X-Service-Signature stays by the one in force until the next one is\n" +
        "activated; webhook-signature carries both meanwhile. Repeated, the next one is replaced by another.",
    )
    .addHelpText(
      "after",
      examples(["brandctl receivers rotate rcv_… --brand brd_… --json | jq -r .secret", "the next secret, for the receiver's settings"]),
    )
    .action((receiverId: string, { brand }: { brand: string }, command: Command) =>
      shell.act(command, async (session) => {
        const { receiver, secret } = await (await session.receivers()).rotateSecret({ brand_id: brand, receiver_id: receiverId });
        showSecret(session, answered(receiver), secret);
        session.note(() => "Once the receiver takes both: brandctl receivers activate");
      }),
    );
}

export function activate(shell: Shell): Command {
  return ofReceiver("activate", "sign with the next signing secret from now on")
    .description("Sign with the next signing secret from now on, and no longer with the one before. The receiver must know it by then.")
    .action((receiverId: string, { brand }: { brand: string }, command: Command) =>
      shell.act(command, async (session) => {
        const { receiver } = await (await session.receivers()).activateSecret({ brand_id: brand, receiver_id: receiverId });
        show(session, answered(receiver));
        session.note(({ dim }) => dim("Signed with the next secret from now on."));
      }),
    );
}
