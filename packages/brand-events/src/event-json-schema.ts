import { z } from "zod";
import { eventMessageSchema } from "./event-message.ts";

/**
 * What a message of the log holds, for readers in other languages; docs/schemas/brand-event.schema.json is this. Open, as
 * readers must be: a later release may add fields.
 */
export function eventJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(eventMessageSchema, { io: "input" });
  const description = "The value of a message on the topic brand.events. docs/platform.md tells of its key and headers.";
  return { $schema, title: "Brand event", description, ...schema };
}
