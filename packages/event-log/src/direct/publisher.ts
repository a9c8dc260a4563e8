import type { IntakeServiceService } from "@brand-records/proto/webhook/v1";
import { traceparentFrom, type RpcClient } from "@brand-records/rpc";
import { randomUUID } from "node:crypto";
import type { LogMessage, Publisher } from "../event-log.ts";

const ANSWER_MS = 15_000;
/** A message of the protocol has 4 MiB at most; ours have some 600 bytes. */
const BYTES_MAX = 2 * 1024 * 1024;

/** Hands messages to webhook itself, which answers once it has stored them. */
export function directPublisher(webhook: RpcClient<IntakeServiceService>): Publisher {
  let ready = false;
  let last: Promise<unknown> = Promise.resolve();
  const send = async (messages: readonly LogMessage[]): Promise<void> => {
    try {
      for (const part of partsOf(messages)) {
        const context = { requestId: randomUUID(), traceparent: traceparentFrom(undefined), deadline: Date.now() + ANSWER_MS };
        await webhook.publishMessages({ messages: part }, context);
      }
      ready = true;
    } catch (error) {
      ready = false;
      throw error;
    }
  };
  return {
    publish(messages) {
      const turn = last.then(() => send(messages));
      last = turn.catch(() => {});
      return turn;
    },
    isReady: () => ready,
    async stop() {
      await last;
      webhook.stop();
    },
  };
}

function* partsOf(messages: readonly LogMessage[]): Generator<LogMessage[]> {
  let part: LogMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    if (part.length > 0 && bytes + message.value.length > BYTES_MAX) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(message);
    bytes += message.value.length;
  }
  // None at all asks whether webhook is there.
  if (part.length > 0 || messages.length === 0) yield part;
}
