import type { Command } from "commander";
import type { Shell } from "../shell.ts";
import { examples } from "./options.ts";
import { printReceiver, printSigningSecret, receiverCommand, receiverKey } from "./receiver-command.ts";

export function rotate(shell: Shell): Command {
  return receiverCommand("rotate", "make a receiver's next signing secret; it is shown once")
    .description(
      "Make a receiver's next signing secret, shown once. Until it is activated, X-Service-Signature stays signed with the current secret, and webhook-signature carries both signatures. Rotating again replaces the next secret: it then needs a test of its own.",
    )
    .addHelpText(
      "after",
      examples(["brandctl receivers rotate rcv_… --json | jq -r .secret", "the next secret, for the receiver's settings"]),
    )
    .action((receiverId: string, { brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const key = await receiverKey(session, receiverId, brand);
        printSigningSecret(session, await (await session.receivers()).rotateSecret(key));
        session.note(
          () =>
            "\nGive it to the receiver beside the current one, then:\n" +
            `  brandctl receivers test ${receiverId} --next    # until it is accepted\n` +
            `  brandctl receivers activate ${receiverId}`,
        );
      }),
    );
}

export function activate(shell: Shell): Command {
  return receiverCommand("activate", "sign with the next signing secret from now on")
    .description(
      "Sign with the next signing secret only, from now on. Refused until the receiver has accepted a test signed with it: see receivers test --next.",
    )
    .option("--force", "activate it without such a test; a receiver that does not have it then refuses everything")
    .action((receiverId: string, { brand, force = false }: { brand?: string; force?: boolean }, command: Command) =>
      shell.act(command, async (session) => {
        const key = await receiverKey(session, receiverId, brand);
        printReceiver(session, await (await session.receivers()).activateSecret({ ...key, force }));
        session.note(({ dim }) => dim("Deliveries are now signed with the next secret. Remove the old one from the receiver in a minute."));
      }),
    );
}
