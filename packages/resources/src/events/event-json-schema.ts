import { z } from "zod";
import { eventMessageSchema } from "./event-message.ts";

/**
 * Returns the JSON Schema of a message in the log, for readers in other languages; published as docs/schemas/brand-event.schema.json.
 * Allows unknown fields: a later release may add some.
 */
export function eventJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(eventMessageSchema, { io: "input" });
  const description = "The value of a message on the topic brand.events. docs/platform.md describes its key and headers.";
  return { $schema, title: "Brand event", description, ...schema };
}
