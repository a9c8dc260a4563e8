import type { Handlers } from "./operation.ts";

export const REPLAYS: Handlers<"replays"> = {
  "replays.count": {
    run: ({ deliveries }, { call }, input) => deliveries.countReplay(input, call),
  },
  "replays.start": {
    audit: { action: "receiver.replay", subject: ({ receiver_id }) => receiver_id, fields: () => ["since", "failed_only"] },
    run: ({ deliveries }, { call, person }, input) => deliveries.replayEvents({ ...input, acting_member: person.email }, call),
  },
  "replays.latest": {
    run: ({ deliveries }, { call }, input) => deliveries.getLatestReplay(input, call),
  },
  "replays.cancel": {
    audit: { action: "replay.cancel", subject: ({ replay_id }) => replay_id },
    run: ({ deliveries }, { call, person }, input) => deliveries.cancelReplay({ ...input, acting_member: person.email }, call),
  },
};
