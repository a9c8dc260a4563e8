import { Mutex } from "@brand-records/lifecycle";
import type { IntakeServiceService } from "@brand-records/proto/webhook/v1";
import type { Handlers } from "@brand-records/rpc";
import type { Intake } from "../event-log.ts";

const DIRECT = "direct";

/** The reading end of the direct log: the writer waits until its messages are taken in, and repeats what was not. */
export function intakeHandlers(intake: Intake): Handlers<IntakeServiceService> {
  // One after the other, as a partition would come: two relays may overlap while one takes the other's place.
  const mutex = new Mutex();
  return {
    async publishMessages({ messages }) {
      const received = messages.map(({ key, value, headers }) => ({ key, value: Buffer.from(value), headers, position: DIRECT }));
      await mutex.run(async () => {
        if (received.length > 0) await intake(received);
      });
      return {};
    },
  };
}
