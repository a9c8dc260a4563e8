import { parseRequest } from "@brand-records/errors";
import type { OperatorServiceService } from "@brand-records/proto/webhook/v1";
import type { Handlers } from "@brand-records/rpc";
import { idPattern } from "@brand-records/ids";
import { emailField, pseudonymField } from "@brand-records/service-runtime";
import { z } from "zod";
import type { WebhookDependencies } from "../dependencies.ts";
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

/** Serves the operators' command line: finds the brand of a record by its id alone, and deletes what belongs to a brand or a person. */
export function operatorHandlers({
  db,
  audit,
  deadLetters,
  messages,
  chunks,
}: Pick<WebhookDependencies, "db" | "audit" | "deadLetters" | "messages" | "chunks">): Handlers<OperatorServiceService> {
  return {
    async findBrand(request) {
      const { id } = parseRequest({ id: idField }, request);
      return { brand_id: await findBrand(db, id) };
    },
    async erasePerson(request) {
      const { email, pseudonym } = parseRequest({ email: emailField(), pseudonym: pseudonymField }, request);
      return { brand_ids: await audit.erase(email, pseudonym) };
    },
    async deleteBrandData(request) {
      const { brand_id } = parseRequest({ brand_id: fields.brandId }, request);
      return deleteBrandData(db, brand_id, chunks?.turn);
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

/** A message of the log, whether or not it can be read as an event. */
interface Message {
  readonly key: string;
  readonly value: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Whether a message names a brand anywhere. An id that only begins like the brand's does not count. */
export function namesBrand({ key, value, headers }: Message, brandId: string): boolean {
  const name = new RegExp(`${brandId}(?![0-9a-z])`);
  return [key, value.toString("latin1"), ...Object.values(headers)].some((text) => name.test(text));
}
