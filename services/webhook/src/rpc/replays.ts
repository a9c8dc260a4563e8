import { parseRequest } from "@brand-records/errors";
import type { DeliveriesServiceService } from "@brand-records/proto/webhook/v1";
import type { Handlers } from "@brand-records/rpc";
import { z } from "zod";
import type { WebhookDependencies } from "../dependencies.ts";
import type { ReplayKey, ReplayRequest } from "../domain/replay.ts";
import { cancelReplay, getLatestReplay, getReplay, previewReplay, replayEvents } from "../use-cases/replay-events.ts";
import { fields } from "./fields.ts";

type ReplayMethods = "replayEvents" | "getReplay" | "countReplay" | "getLatestReplay" | "cancelReplay";

/** The methods of DeliveriesService about replays of many events. */
export function replayHandlers({
  db,
  replaying,
}: Pick<WebhookDependencies, "db" | "replaying">): Pick<Handlers<DeliveriesServiceService>, ReplayMethods> {
  return {
    async replayEvents(request) {
      const replay = await replayEvents(db, replayRequest(request));
      replaying?.wake();
      return { replay };
    },
    async countReplay(request) {
      return { events: await previewReplay(db, replayRequest(request)) };
    },
    async getReplay(request) {
      return { replay: await getReplay(db, replayIn(request)) };
    },
    async getLatestReplay(request) {
      const { brand_id, receiver_id } = parseRequest({ brand_id: fields.brandId, receiver_id: fields.receiverId }, request);
      const replay = await getLatestReplay(db, { brandId: brand_id, receiverId: receiver_id });
      return { replay: replay ?? null };
    },
    async cancelReplay(request) {
      return { replay: await cancelReplay(db, replayIn(request)) };
    },
  };
}

const replayFields = {
  brand_id: fields.brandId,
  receiver_id: fields.receiverId,
  since: fields.time,
  until: fields.time.nullish(),
  failed_only: z.boolean(),
};

function replayRequest(request: object): ReplayRequest {
  const { brand_id, receiver_id, since, until, failed_only } = parseRequest(replayFields, request);
  return { brandId: brand_id, receiverId: receiver_id, since, until: until ?? null, failedOnly: failed_only };
}

function replayIn(request: object): ReplayKey {
  const { brand_id, replay_id } = parseRequest({ brand_id: fields.brandId, replay_id: fields.replayId }, request);
  return { brandId: brand_id, replayId: replay_id };
}
