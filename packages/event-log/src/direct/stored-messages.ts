import type { StoredMessages } from "../event-log.ts";

/** Without Kafka the log stores nothing. */
export const noStoredMessages: StoredMessages = {
  end: async () => [],
  removeBefore: async () => ({ isDone: true, behind: [] }),
};
