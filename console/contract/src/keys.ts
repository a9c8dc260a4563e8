import { z } from "zod";
import { id, member, nullable, owner, page_token, time } from "./operation.ts";

export const key = z.object({
  id: z.string(),
  name: z.string(),
  /** live or test. */
  environment: z.string(),
  permissions: z.array(z.string()),
  /** The prefix and the last four characters. */
  hint: z.string(),
  created_by: z.string(),
  created_at: time,
  last_used_at: nullable(time),
  revoked_at: nullable(time),
  revoked_by: nullable(z.string()),
});

export const KEY_OPERATIONS = {
  /**
   * Returns the brand's keys, 200 a page: first those that are not revoked, the newest of each first. With `ids`, those of them that the
   * brand has.
   */
  "keys.list": member({ ids: z.array(id("key")).max(200).optional(), page_token }).returns({
    keys: z.array(key),
    next_page_token: nullable(z.string()),
  }),
  "keys.create": owner({
    /** The service checks it, and names every problem. */
    name: z.string().max(1_000, "must be at most 1000 characters"),
    /** Adds `campaigns:prepare`. */
    may_prepare: z.boolean(),
  }).returns({
    key,
    /** The key itself. No other response has it. */
    secret: z.string(),
  }),
  /** A repeat changes nothing. */
  "keys.revoke": owner({ key_id: id("key") }).returns({
    key,
    /** Null: every gateway refuses the key's next request. Otherwise one that knows the key may accept it until then. */
    may_be_accepted_until: nullable(time),
  }),
};
