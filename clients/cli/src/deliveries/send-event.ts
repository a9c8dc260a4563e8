import { signDelivery } from "@brand-records/client/signing";
import { UsageFailure } from "@brand-records/command-line";
import { factLines } from "@brand-records/terminal-output";
import { timeoutMs, type DeliveryOptions } from "../input/delivery-options.ts";
import type { Session } from "../session.ts";
import { deliveryTarget, headerWord, originOf } from "./delivery-target.ts";
import { postDelivery } from "./post-delivery.ts";
import { adviceFor, isAccepted, outcomeOf, replyText } from "./reply-text.ts";
import { isEventType, sampleEvent } from "./sample-event.ts";

/** @returns the exit code: 0 if the receiver accepted the event */
export async function sendEvent(session: Session, type: string, options: DeliveryOptions): Promise<number> {
  if (!isEventType(type)) throw new UsageFailure(`there is no type ${type}`);
  const { live = false } = options;
  const to = deliveryTarget(options.to);
  const secrets = await readAllSecrets(session, options);
  const event = sampleEvent(type, { live, origin: originOf(session.terminal.env) });
  const { id, body } = event;
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
  session.print(document, (colors) =>
    factLines(
      [
        ["Event", id, colors.cyan],
        ["Type", live ? type : `${type}, marked as a test (--live: not marked)`],
        ["To", to.href],
        ["Receiver", replyText(reply), accepted ? colors.green : colors.red],
        ...(accepted ? [] : ([["Do", adviceFor(reply), colors.yellow]] as const)),
      ],
      colors,
    ).join("\n"),
  );
  return accepted ? 0 : 1;
}

/** The first signs both headers, the others one alone, as during a rotation. */
async function readAllSecrets(session: Session, { secretFile, nextSecretFile }: DeliveryOptions): Promise<string[]> {
  const secrets = await session.input.readSecrets(secretFile, "--secret-file");
  if (nextSecretFile === undefined) return secrets;
  return [...secrets, ...(await session.input.readSecrets(nextSecretFile, "--next-secret-file"))];
}
