import type { EventType } from "@brand-records/client";
import { signDelivery } from "@brand-records/client/signing";
import { timeoutMs, type DeliveryOptions } from "../input/delivery-options.ts";
import type { Session } from "../session.ts";
import { deliveryTarget, headerWord } from "./delivery-target.ts";
import { eventToSend, type EventOptions } from "./event-to-send.ts";
import { postDelivery } from "./post-delivery.ts";
import { adviceFor, isAccepted, outcomeOf, replyText } from "./reply-text.ts";

/** @returns the exit code: 0 if the receiver accepted the event */
export async function sendEvent(session: Session, given: EventType | undefined, options: DeliveryOptions & EventOptions): Promise<number> {
  const { live = false } = options;
  const to = deliveryTarget(options.to);
  const secrets = await readAllSecrets(session, options);
  const { id, type, body } = await eventToSend(session, given, options);
  const headers = await signDelivery(body, secrets, { id, type, headerWord: headerWord(options.headerWord) });
  const reply = await postDelivery(to, { headers, body }, { timeoutMs: timeoutMs(options), signal: session.terminal.interrupted });
  const accepted = isAccepted(reply);
  const document = {
    to: to.href,
    outcome: outcomeOf(reply),
    status: reply.kind === "response" ? reply.status : null,
    milliseconds: reply.milliseconds,
    ...(!accepted && { advice: adviceFor(reply) }),
    headers,
    body: JSON.parse(body.toString("utf8")) as object,
  };
  session.printFacts(document, [
    ["Event", id, "cyan"],
    ["Type", live || options.body !== undefined ? type : `${type}, marked as a test (--live: not marked)`],
    ["To", to.href],
    ["Receiver", replyText(reply), accepted ? "green" : "red"],
    ...(accepted ? [] : ([["Do", adviceFor(reply), "yellow"]] as const)),
  ]);
  return accepted ? 0 : 1;
}

/** The first signs both headers, the others one alone, as during a rotation. */
async function readAllSecrets(session: Session, { secretFile, nextSecretFile }: DeliveryOptions): Promise<string[]> {
  const secrets = await session.input.readSecrets(secretFile, "--secret-file");
  if (nextSecretFile === undefined) return secrets;
  return [...secrets, ...(await session.input.readSecrets(nextSecretFile, "--next-secret-file"))];
}
