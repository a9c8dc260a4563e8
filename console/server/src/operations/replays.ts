import type { Replay } from "@brand-records/console-contract";
import type { Replay as ReplayMessage } from "@brand-records/proto/webhook/v1";
import type { BrandHandler } from "./operation.ts";

export const countReplay: BrandHandler<"replays.count"> = {
  run: ({ deliveries }, { call }, input) => deliveries.countReplay({ ...input, until: null }, call),
};

export const startReplay: BrandHandler<"replays.start"> = {
  audit: { action: "receiver.replay", subject: ({ receiver_id }) => receiver_id, fields: () => ["since", "failed_only"] },
  async run({ deliveries }, { call, person }, input) {
    const { replay } = await deliveries.replayEvents({ ...input, until: null, acting_member: person.email }, call);
    return { replay: toReplay(replay) };
  },
};

export const latestReplay: BrandHandler<"replays.latest"> = {
  async run({ deliveries }, { call }, input) {
    const { replay } = await deliveries.getLatestReplay(input, call);
    return { replay: replay == null ? null : toReplay(replay) };
  },
};

export const cancelReplay: BrandHandler<"replays.cancel"> = {
  audit: { action: "replay.cancel", subject: ({ replay_id }) => replay_id },
  async run({ deliveries }, { call, person }, input) {
    const { replay } = await deliveries.cancelReplay({ ...input, acting_member: person.email }, call);
    return { replay: toReplay(replay) };
  },
};

function toReplay(message: ReplayMessage | null | undefined): Replay {
  if (message == null) throw new Error("webhook returned no replay");
  return { ...message, finished_at: message.finished_at ?? null, cancelled_at: message.cancelled_at ?? null };
}
