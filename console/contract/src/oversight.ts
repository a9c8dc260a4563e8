import { z } from "zod";
import { instant } from "./deliveries.ts";
import { key } from "./keys.ts";
import { id, member, nullable, owner, page_token, time } from "./operation.ts";
import { receiver } from "./receivers.ts";

const entry = z.object({
  id: z.string(),
  /** E-mail address of the member who acted; null: the operator. */
  actor: nullable(z.string()),
  /** The owner whose link opened the actor's session: the owner could have opened it, too. */
  via: nullable(z.string()),
  /** Such as key.create. */
  action: z.string(),
  subject_id: nullable(z.string()),
  fields: z.array(z.string()),
  request_id: z.string(),
  address: nullable(z.string()),
  created_at: time,
  /** done, failed or unknown; null: in progress, or never finished. */
  outcome: nullable(z.string()),
  error_kind: nullable(z.string()),
  /** The browser's family, of sign-ins and sign-outs. */
  browser: nullable(z.string()),
  /** The role that a member got. */
  role: nullable(z.string()),
  /** More than 1 only for refused sign-ins: the last try was at `finished_at`. */
  tries: z.number(),
  finished_at: nullable(time),
});

export const bucket = z.object({
  start: time,
  /** Null unless `by_key`. */
  key_id: nullable(z.string()),
  accepted: z.number(),
  /** Requests that the rate limit refused. */
  refused: z.number(),
  /** Requests in the busiest clock minute of the bucket. */
  peak_accepted: z.number(),
});

const client = z.object({
  key_id: z.string(),
  /** Declared by the client, not proved. */
  name: z.string(),
  messages: z.number(),
});

const failedGroup = z.object({
  key_id: z.string(),
  /** Method and path; of an assistant's message also its method and tool. */
  route: z.string(),
  code: z.string(),
  /** `*`: a name that the route does not have; empty without one. */
  field: z.string(),
  requests: z.number(),
  /** Minutes. */
  first_at: time,
  last_at: time,
  /** Newest first. */
  request_ids: z.array(z.string()),
});

/** The keys that are named, 200 beside the first page of `keys.list`, which the log of changes goes without. */
const keys = z.array(key);

/** What owners and members see of what has happened. */
export const OVERSIGHT_OPERATIONS = {
  /** Returns who changed what, newest first, 50 a page. */
  "audit.list": owner({
    /** An e-mail address, or `operator`. Selects what was done through links of the person, too. */
    actor: z.string().max(254).optional(),
    /** An action, or `session` for all sign-ins and sign-outs. */
    action: z.string().max(100).optional(),
    from: instant.optional(),
    to: instant.optional(),
    page_token,
  }).returns({ entries: z.array(entry), keys, next_page_token: nullable(z.string()) }),
  /**
   * Returns the requests of the last seven days that were refused or failed, by key, route, code and field, and counts of them; buckets without any
   * are left out.
   */
  "requests.failed": member({
    from: instant,
    to: instant,
    bucket_minutes: z.int().min(1).max(1_440),
    key_id: id("key").optional(),
    route: z.string().max(200).optional(),
    code: z.string().max(60).optional(),
    field: z.string().max(60).optional(),
  }).returns({
    groups: z.array(failedGroup),
    keys,
    has_more_groups: z.boolean(),
    buckets: z.array(z.object({ start: time, requests: z.number() })),
    /** Requests before this minute are missing; null if none are. */
    counted_since: nullable(time),
  }),
  /** Returns counts of requests; buckets without requests are left out. */
  "usage.get": member({ from: instant, to: instant, bucket_minutes: z.int().min(1).max(1_440), by_key: z.boolean() }).returns({
    buckets: z.array(bucket),
    keys,
    /** With `by_key`: the 500 assistants with the most messages, in all days in Manila that have a part in the range. */
    clients: z.array(client).optional(),
  }),
};

export const OVERVIEW_OPERATIONS = {
  /** Returns everything that the first page shows, so that it is there at once. */
  "overview.get": member().returns({
    /** The first page of `keys.list`: with as many, the others change nothing about what is set up. */
    keys: z.array(key),
    receivers: z.array(receiver),
    /** Whether a receiver has ever accepted a delivery, as far as deliveries are kept. One that fails now has not lost it. */
    has_accepted: z.boolean(),
    /** Requests of the last 24 hours, by hour from `from` on, the present quarter of an hour included; null if they could not be read. */
    usage: nullable(z.object({ from: time, buckets: z.array(bucket) })),
    /** Campaign plans that wait for a person; null if they could not be counted. */
    plans_pending: nullable(z.number()),
  }),
};
