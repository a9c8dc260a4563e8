import { AppError } from "@brand-records/errors";
import type { CreateReceiverRequest, Receiver } from "@brand-records/proto/webhook/v1";
import { counted, printable } from "@brand-records/command-line";
import { CommandFailure, required } from "../failure.ts";
import type { Session } from "../session.ts";

/** Marks the receivers that `listen` makes. */
const LABEL = "brandctl listen";

/** What the command says of its receiver. */
export type Registration = Pick<CreateReceiverRequest, "brand_id" | "url" | "events">;

export interface Registered {
  readonly receiver: Receiver;
  readonly secret: string;
}

/**
 * Registers a receiver on this machine; one that an earlier run left at the URL is deleted first.
 *
 * @throws CommandFailure if the service does not deliver to this machine, or another receiver has the URL
 */
export async function register(session: Session, registration: Registration): Promise<Registered> {
  try {
    return await createReceiver(session, registration);
  } catch (error) {
    if (error instanceof AppError && error.kind === "duplicate_url") {
      await removeLeftover(session, registration, error);
      return createReceiver(session, registration);
    }
    if (!(error instanceof AppError) || !["not_https", "private_address"].includes(error.kind)) throw error;
    throw new CommandFailure(error.kind, "The webhook service does not deliver to this machine.", {
      cause: error,
      hint: "Start it with RECEIVERS_ON_LOOPBACK=true, on your own machine only.",
    });
  }
}

async function createReceiver(session: Session, registration: Registration): Promise<Registered> {
  const { receiver, secret } = await session.client("webhook.receivers").createReceiver({ ...registration, label: LABEL });
  return { receiver: required(receiver, "receiver"), secret };
}

/**
 * Deletes the receiver that has the URL already: a killed run left it, as this process holds the port.
 *
 * @throws CommandFailure if its label says that it is not ours
 */
async function removeLeftover(session: Session, { brand_id, url }: Registration, cause: AppError): Promise<void> {
  const client = session.client("webhook.receivers");
  const { href } = new URL(url);
  const found = (await client.listReceivers({ brand_id })).receivers.find((receiver) => receiver.url === href);
  // Deleted in the meantime.
  if (found === undefined) return;
  if (found.label !== LABEL) {
    throw new CommandFailure(cause.kind, printable(`The receiver ${found.id}, "${found.label}", has the URL ${url} already.`), {
      cause,
      hint: `brandctl receivers delete ${found.id}; or listen elsewhere: --port 0`,
    });
  }
  try {
    const { dropped } = await client.deleteReceiver({ brand_id, receiver_id: found.id });
    const waiting = dropped === 0 ? "" : `, and ${counted(dropped, "waiting delivery", "waiting deliveries")} with it`;
    session.note(({ dim }) => dim(printable(`${found.id}, left by an earlier brandctl listen, is deleted${waiting}.`)));
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== "not_found") throw error;
  }
}

/** Deletes the receiver. Runs after Ctrl-C too, so not under its signal. */
export async function unregister(session: Session, { brand_id, id }: Receiver): Promise<void> {
  try {
    await session.client("webhook.receivers", new AbortController().signal).deleteReceiver({ brand_id, receiver_id: id });
    session.note(({ dim }) => dim(`${printable(id)} is deleted.`));
  } catch (error) {
    if (error instanceof AppError && error.kind === "not_found") return;
    throw new CommandFailure("not_deleted", `The receiver ${id} could not be deleted.`, {
      cause: error,
      hint: `brandctl receivers delete ${id} --yes`,
    });
  }
}
