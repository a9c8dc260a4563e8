import { Mutex } from "@brand-records/lifecycle";
import type { IntakeServiceService } from "@brand-records/proto/webhook/v1";
import { MESSAGE_BYTES_MAX, traceparentFrom, type RpcClient } from "@brand-records/rpc";
import { randomUUID } from "node:crypto";
import type { LogMessage, Publisher } from "../event-log.ts";
import { chunks } from "../chunks.ts";

const ANSWER_MS = 15_000;
/** Of values in one call, well below what its message may have: keys and headers come on top. An event has some 600 bytes. */
const BYTES_MAX = MESSAGE_BYTES_MAX / 4;

/** Hands messages to webhook itself, which answers once it has stored them. */
export function directPublisher(webhook: RpcClient<IntakeServiceService>): Publisher {
  let ready = false;
  const mutex = new Mutex();
  const send = async (messages: readonly LogMessage[]): Promise<void> => {
    try {
      // None at all asks whether webhook is there.
      const parts = messages.length === 0 ? [[]] : chunks(messages, BYTES_MAX);
      for (const part of parts) {
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
    publish: (messages) => mutex.run(() => send(messages)),
    isReady: () => ready,
    async stop() {
      await mutex.drain();
      webhook.stop();
    },
  };
}
