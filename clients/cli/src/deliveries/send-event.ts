import { signDelivery } from "@brand-records/client/signing";
import { parsedJson, printable, UsageFailure } from "@brand-records/command-line";
import { timeoutMs, type DeliveryOptions } from "../input/delivery-options.ts";
import type { Session } from "../session.ts";
import { deliveryTarget, headerWord, originOf } from "./delivery-target.ts";
import { postDelivery } from "./post-delivery.ts";
import { adviceFor, isAccepted, outcomeOf, replyText } from "./reply-text.ts";
import { isEventType, sampleEvent, type SampleEvent } from "./sample-event.ts";

/** @returns the exit code: 0 if the receiver accepted the event */
export async function sendEvent(
  session: Session,
  type: string,
  options: DeliveryOptions & { readonly body: string | undefined },
): Promise<number> {
  if (!isEventType(type)) throw new UsageFailure(`there is no type ${type}`);
  const { live = false } = options;
  const to = deliveryTarget(options.to);
  const secrets = await readAllSecrets(session, options);
  const sample = (): SampleEvent => sampleEvent(type, { live, origin: originOf(session.terminal.env) });
  const { id, body } = options.body === undefined ? sample() : await storedEvent(session, type, options.body);
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

/** Returns the event of a file. @throws UsageFailure if it has none of this type */
async function storedEvent(session: Session, type: string, file: string): Promise<SampleEvent> {
  const body = await session.input.read(file, "--body");
  const event = parsedJson(body.toString("utf8")) as { readonly id?: unknown; readonly type?: unknown } | null | undefined;
  if (typeof event?.id !== "string" || typeof event.type !== "string") {
    throw new UsageFailure("--body has no event", "Give the body of a delivery, whole, as its page in the console shows it.");
  }
  if (event.type !== type) throw new UsageFailure(`--body has an event of the type ${printable(event.type)}, not ${type}`);
  return { id: event.id, type, body };
}

/** The first signs both headers, the others one alone, as during a rotation. */
async function readAllSecrets(session: Session, { secretFile, nextSecretFile }: DeliveryOptions): Promise<string[]> {
  const secrets = await session.input.readSecrets(secretFile, "--secret-file");
  if (nextSecretFile === undefined) return secrets;
  return [...secrets, ...(await session.input.readSecrets(nextSecretFile, "--next-secret-file"))];
}
