import type { Intake } from "@brand-records/event-log";
import { Mutex } from "@brand-records/lifecycle";
import type { IntakeServiceService } from "@brand-records/proto/webhook/v1";
import type { Handlers } from "@brand-records/rpc";

/** Position of a message received without Kafka. */
const DIRECT = "direct";

/** The reading end of the direct log. The relay waits until its messages are stored, and repeats a call that failed. */
export function intakeHandlers(intake: Intake): Handlers<IntakeServiceService> {
  // One call after another, as from a partition: two relays may overlap while one replaces the other.
  const queue = new Mutex();
  return {
    async publishMessages({ messages }) {
      const received = messages.map(({ key, value, headers }) => ({ key, value: Buffer.from(value), headers, position: DIRECT }));
      await queue.run(async () => {
        if (received.length > 0) await intake(received);
      });
      return {};
    },
  };
}
