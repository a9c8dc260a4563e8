import { Mutex } from "@brand-records/lifecycle";
import type { IntakeServiceService } from "@brand-records/proto/webhook/v1";
import { MESSAGE_BYTES_MAX, newCallContext, type RpcClient } from "@brand-records/rpc";
import { chunks } from "../chunks.ts";
import type { LogMessage, Publisher, StoredMessages } from "../event-log.ts";

const DEADLINE_MS = 15_000;
/** Bytes of the values in one call: well below the limit of its message, which also holds keys and headers. An event has about 600 bytes. */
const BYTES_MAX = MESSAGE_BYTES_MAX / 4;

/** Sends messages directly to webhook, which responds after it has stored them. */
export function directPublisher(webhook: RpcClient<IntakeServiceService>): Publisher {
  const calls = new Mutex();
  let ready = false;
  const send = async (messages: readonly LogMessage[]): Promise<void> => {
    try {
      // An empty call checks whether webhook is reachable.
      const batches = messages.length === 0 ? [[]] : chunks(messages, BYTES_MAX);
      for (const batch of batches) {
        await webhook.publishMessages({ messages: batch }, newCallContext(DEADLINE_MS));
      }
      ready = true;
    } catch (error) {
      ready = false;
      throw error;
    }
  };
  return {
    publish: (messages) => calls.run(() => send(messages)),
    isReady: () => ready,
    async stop() {
      await calls.drain();
      webhook.stop();
    },
  };
}

/** Without Kafka the log stores nothing. */
export const noStoredMessages: StoredMessages = {
  end: async () => ({ positions: [] }),
  removeBefore: async () => ({ isDone: true, behind: [] }),
};
