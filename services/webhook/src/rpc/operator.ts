import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";
import type { OperatorServiceService } from "@brand-records/proto/webhook/v1";
import type { Handlers } from "@brand-records/rpc";
import { check } from "@brand-records/service";
import { idPattern } from "@brand-records/typeid";
import { z } from "zod";
import type { WebhookDependencies } from "../dependencies.ts";
import { findBrandOfDelivery } from "../storage/deliveries.ts";
import { findBrandOfEvent } from "../storage/events.ts";
import { findBrandOfReceiver } from "../storage/receivers.ts";
import { findBrandOfReplay } from "../storage/replays.ts";

interface Kind {
  readonly noun: string;
  find(sql: Sql, id: string): Promise<string | undefined>;
}

/** By the prefix of their ids. */
const KINDS = {
  rcv: { noun: "receiver", find: findBrandOfReceiver },
  evt: { noun: "event", find: findBrandOfEvent },
  dlv: { noun: "delivery", find: findBrandOfDelivery },
  rpl: { noun: "replay", find: findBrandOfReplay },
} satisfies Record<string, Kind>;

const idField = z
  .string()
  .regex(
    idPattern(`(${Object.keys(KINDS).join("|")})`),
    "must be the id of a receiver (rcv_…), an event (evt_…), a delivery (dlv_…) or a replay (rpl_…)",
  );

/** For the operators' command line: finds the brand of a record by its id alone. */
export function operatorHandlers({ db }: Pick<WebhookDependencies, "db">): Handlers<OperatorServiceService> {
  return {
    async findBrand(request) {
      const { id } = check({ id: idField }, request);
      const { noun, find } = KINDS[id.slice(0, 3) as keyof typeof KINDS];
      const brandId = await find(db, id);
      if (brandId === undefined)
        throw new AppError("not_found", `There is no ${noun} with this id, or it is no longer stored`, { field: "id" });
      return { brand_id: brandId };
    },
  };
}
