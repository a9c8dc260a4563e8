import { flag, timeWithSeconds } from "@brand-records/command-line";
import { AppError } from "@brand-records/errors";
import type { Receiver, RotateSecretResponse } from "@brand-records/proto/webhook/v1";
import type { ReceiversClient } from "../connection/clients.ts";
import { CommandFailure, required } from "../failure.ts";
import { command } from "../session.ts";
import { brandCheckOption } from "./options.ts";
import { printReceiver, printSigningSecret, RECEIVER_ARGUMENTS, receiverKey, type ReceiverKey } from "./receiver-command.ts";

export const rotate = command("rotate", {
  summary: "make a receiver's next signing secret; it is shown once",
  description:
    "Make a receiver's next signing secret, shown once. Until it is activated, X-Service-Signature stays signed with the current secret, and webhook-signature carries both signatures. Refused while there is a next secret already: --replace replaces it, and the new one needs a test of its own.",
  arguments: RECEIVER_ARGUMENTS,
  options: {
    brand: brandCheckOption("receiver"),
    replace: flag("--replace", "replace a next secret for good; what has that one alone then refuses deliveries"),
  },
  examples: [["brandctl receivers rotate rcv_… --json | jq -r .secret", "the next secret, for the receiver's settings"]],
  run: async (session, { brand, replace = false }, receiverId: string) => {
    const key = await receiverKey(session, receiverId, brand);
    const receivers = session.client("webhook.receivers");
    printSigningSecret(session, await rotateSecret(receivers, key, replace));
    session.note(
      () =>
        "\nGive it to the receiver beside the current one, then:\n" +
        `  brandctl receivers test ${receiverId} --next    # until it is accepted\n` +
        `  brandctl receivers activate ${receiverId}`,
    );
  },
});

/** @throws CommandFailure `next_secret_exists` */
async function rotateSecret(receivers: ReceiversClient, key: ReceiverKey, replace: boolean): Promise<RotateSecretResponse> {
  try {
    return await receivers.rotateSecret({ ...key, replace });
  } catch (error) {
    if (error instanceof AppError && error.kind === "request_conflict")
      requireNoNextSecret(required((await receivers.getReceiver(key)).receiver, "receiver"));
    throw error;
  }
}

/** @throws CommandFailure if there is a next secret: the receiver may have switched to it already */
function requireNoNextSecret({ id, rotating, next_secret_at, next_secret_accepted_at }: Receiver): void {
  if (!rotating) return;
  const accepted = next_secret_accepted_at == null ? "" : `, accepted ${timeWithSeconds(next_secret_accepted_at)} UTC`;
  throw new CommandFailure(
    "next_secret_exists",
    `The receiver has a next secret already, made ${timeWithSeconds(next_secret_at)} UTC${accepted}. ` +
      "Rotating again replaces it for good: what has that secret alone then refuses deliveries.",
    { hint: `brandctl receivers activate ${id} makes it the current one; brandctl receivers rotate ${id} --replace replaces it` },
  );
}

export const activate = command("activate", {
  summary: "sign with the next signing secret from now on",
  description:
    "Sign with the next signing secret only, from now on. Refused until the receiver has accepted a test signed with it: see receivers test --next.",
  arguments: RECEIVER_ARGUMENTS,
  options: {
    brand: brandCheckOption("receiver"),
    force: flag("--force", "activate it without such a test; a receiver that does not have it then refuses everything"),
  },
  run: async (session, { brand, force = false }, receiverId: string) => {
    const key = await receiverKey(session, receiverId, brand);
    printReceiver(session, await session.client("webhook.receivers").activateSecret({ ...key, force }));
    session.note(({ dim }) => dim("Deliveries are now signed with the next secret. Remove the old one from the receiver in a minute."));
  },
});
