import { parseRequest } from "@brand-records/errors";
import type { OperatorServiceService } from "@brand-records/proto/webhook/v1";
import type { Handlers } from "@brand-records/rpc";
import { idPattern } from "@brand-records/ids";
import { z } from "zod";
import type { WebhookDependencies } from "../dependencies.ts";
import { namesBrand } from "../domain/names-brand.ts";
import { deleteBrandData } from "../use-cases/delete-brand.ts";
import { FINDABLE_PREFIXES, findBrand } from "../use-cases/find-brand.ts";
import { fields } from "./fields.ts";

const idField = z
  .string()
  .regex(
    idPattern(`(${FINDABLE_PREFIXES.join("|")})`),
    "must be the id of a receiver (rcv_…), an event (evt_…), a delivery (dlv_…) or a replay (rpl_…)",
  );

const logPosition = z.object({ partition: z.int().min(0), offset: z.int().min(0) });

/** Serves the operators' command line: finds the brand of a record by its id alone, and deletes what belongs to a brand. */
export function operatorHandlers({
  db,
  deadLetters,
  messages,
}: Pick<WebhookDependencies, "db" | "deadLetters" | "messages">): Handlers<OperatorServiceService> {
  return {
    async findBrand(request) {
      const { id } = parseRequest({ id: idField }, request);
      return { brand_id: await findBrand(db, id) };
    },
    async deleteBrandData(request) {
      const { brand_id } = parseRequest({ brand_id: fields.brandId }, request);
      return deleteBrandData(db, brand_id);
    },
    async removeDeadLetters(request) {
      const { brand_id } = parseRequest({ brand_id: fields.brandId }, request);
      return { removed: await deadLetters.remove((letter) => namesBrand(letter, brand_id)) };
    },
    async trimLog(request) {
      const { up_to } = parseRequest({ up_to: z.array(logPosition) }, request);
      if (up_to.length === 0) {
        const { positions, keptUntil } = await messages.end();
        return { up_to: [...positions], done: positions.length === 0, behind: [], kept_until: keptUntil };
      }
      const { isDone, behind, refused, keptUntil } = await messages.removeBefore(up_to);
      const readers = behind.map(({ group, messages: count, isOwn }) => ({ group, messages: count, own: isOwn }));
      return { up_to, done: isDone, behind: readers, refused, kept_until: keptUntil };
    },
  };
}
