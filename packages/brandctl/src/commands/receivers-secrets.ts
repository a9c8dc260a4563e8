import type { Command } from "commander";
import type { Shell } from "../shell.ts";
import { examples } from "./options.ts";
import { printReceiver, printSigningSecret, receiverCommand, receiverKey } from "./receiver-command.ts";

export function rotate(shell: Shell): Command {
  return receiverCommand("rotate", "make a receiver's next signing secret; it is shown once")
    .description(
      "Make a receiver's next signing secret, shown once. Until it is activated, X-Service-Signature stays signed with the current secret, and webhook-signature carries both signatures. Rotating again replaces the next secret.",
    )
    .addHelpText(
      "after",
      examples(["brandctl receivers rotate rcv_… --json | jq -r .secret", "the next secret, for the receiver's settings"]),
    )
    .action((receiverId: string, { brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const key = await receiverKey(session, receiverId, brand);
        printSigningSecret(session, await (await session.receivers()).rotateSecret(key));
        session.note(() => "Once the receiver accepts both: brandctl receivers activate");
      }),
    );
}

export function activate(shell: Shell): Command {
  return receiverCommand("activate", "sign with the next signing secret from now on")
    .description("Sign with the next signing secret only, from now on. The receiver must know it by then.")
    .action((receiverId: string, { brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const key = await receiverKey(session, receiverId, brand);
        printReceiver(session, await (await session.receivers()).activateSecret(key));
        session.note(({ dim }) => dim("Deliveries are now signed with the next secret."));
      }),
    );
}
