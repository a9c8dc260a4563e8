import { CELL_NAME, CELL_NAME_RULE } from "@brand-records/config";
import { PERMISSIONS } from "@brand-records/ids";
import { parseRequest } from "@brand-records/errors";
import type { Client } from "@brand-records/proto/accounts/v1";
import type { CallContext, PlannedEntry } from "@brand-records/rpc";
import { formatInstant, parseInstant } from "@brand-records/resources";
import { emailField, idField, nameField, pageSizeField } from "@brand-records/service-runtime";
import { isIP } from "node:net";
import { z } from "zod";
import { ACTION_OF_OTHERS, AUDIT_OUTCOMES, isNotice } from "../domain/audit-entry.ts";
import { TIERS } from "../domain/brand.ts";
import { isPseudonym } from "../domain/person.ts";
import { FIELD, ROUTE } from "../domain/failed-requests.ts";
import { LIST_PAGE_MAX } from "../domain/page-token.ts";
import { REQUESTS_PER_BRAND_MAX, STATUS } from "../domain/recent-requests.ts";
import { LINK_TTL_SECONDS } from "../domain/sign-in.ts";
import { BUCKET_MINUTES_MAX, CLIENT_NAME_LENGTH_MAX, minuteOf } from "../domain/usage.ts";

/** What a process has cleaned: a batch is not refused for one name. */
const oneLine = (max: number) =>
  z
    .string()
    .trim()
    .min(1, "must not be empty")
    .max(max, `must be at most ${max} characters`)
    .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "must not hold control characters");

/** Visible text that is compared byte for byte. */
const exactText = (max: number) =>
  z
    .string()
    .min(1, "must not be empty")
    .max(max, `must be at most ${max} characters`)
    .refine((text) => text.isWellFormed() && !/[\p{Cc}\s]/u.test(text), "must not hold blanks or control characters");

/** Milliseconds since the epoch. */
const milliseconds = z
  .string()
  .transform((text) => parseInstant(text) ?? Number.NaN)
  .pipe(z.number("must be RFC 3339, such as 2026-11-21T08:30:00Z"));

/** @param byDefault for 0 */
const bucketMinutes = (byDefault: number) =>
  z
    .int()
    .min(0, "must not be negative")
    .max(BUCKET_MINUTES_MAX, `must be at most ${BUCKET_MINUTES_MAX}`)
    .transform((minutes) => minutes || byDefault);

/** Rules for the fields of requests. Names are trimmed, e-mail addresses lower-cased. */
export const fields = {
  brandId: idField("brd"),
  brandIds: z.array(idField("brd")).max(1_000, "must be at most 1000 ids"),
  brandName: nameField(200),
  cell: z.string().regex(CELL_NAME, CELL_NAME_RULE),
  tier: z.enum(TIERS, `must be one of ${TIERS.join(", ")}`),
  email: emailField(),
  role: z.enum(["owner", "member"], "must be owner or member"),
  keyName: nameField(80),
  environment: z.enum(["live", "test"], "must be live or test"),
  keyId: idField("key"),
  keyIds: z.array(idField("key")).max(LIST_PAGE_MAX, `must be at most ${LIST_PAGE_MAX} ids`),
  /** The page of a list of keys or members. */
  listPageSize: pageSizeField({ default: LIST_PAGE_MAX, max: LIST_PAGE_MAX })
    .nullish()
    .transform((size) => size ?? LIST_PAGE_MAX),
  permissions: z.array(z.enum(PERMISSIONS, `must be one of ${PERMISSIONS.join(", ")}`)),
  afterId: z.union([idField("brd"), z.literal("")], "must be the id of the previous page's last brand"),
  linkTtl: z
    .int()
    .transform((seconds) => seconds || LINK_TTL_SECONDS.default)
    .pipe(
      z
        .int()
        .min(LINK_TTL_SECONDS.min, `must be at least ${LINK_TTL_SECONDS.min}`)
        .max(LINK_TTL_SECONDS.max, `must be at most ${LINK_TTL_SECONDS.max}`),
    ),
  issuer: exactText(500),
  subject: exactText(255),
  auditId: idField("aud"),
  auditAction: z.string().regex(/^[a-z_]{1,40}\.[a-z_]{1,40}$/, "must be two names in lower case, separated by a period"),
  actionOfOthers: z
    .string()
    .refine((action) => ACTION_OF_OTHERS.test(action) || isNotice(action), "must be an action or a notice of plans or webhook"),
  auditActionOrKind: z.string().regex(/^[a-z_]{1,40}(\.[a-z_]{1,40})?$/, "must be an action, or the first of its two names"),
  auditActor: z
    .string()
    .toLowerCase()
    .refine(
      (text) => text === "operator" || isPseudonym(text) || emailField().safeParse(text).success,
      "must be an e-mail address, a pseudonym, or operator",
    ),
  /** The id of what is changed, or a member's address as it was given: a refused change has an entry too. */
  auditSubject: exactText(254)
    .toLowerCase()
    .refine((text) => !/^(brk|whsec)_/.test(text) || emailField().safeParse(text).success, "must not be a secret"),
  /** A name has no room for a value. */
  auditFields: z.array(z.string().regex(/^[a-z][a-z_]{0,40}$/, "must be a name in lower case")).max(50, "must be at most 50 names"),
  auditPageSize: pageSizeField({ default: 50, max: 200 }),
  auditExportPageSize: pageSizeField({ default: 1_000, max: 5_000 }),
  outcome: z.enum(AUDIT_OUTCOMES, `must be one of ${AUDIT_OUTCOMES.join(", ")}`),
  errorKind: z.string().regex(/^[a-z_]{1,60}$/, "must be the name of an error"),
  requestId: exactText(200),
  address: z.string().refine((text) => isIP(text) !== 0 && !text.includes("%"), "must be an IP address"),
  browser: oneLine(40),
  instant: milliseconds.transform(formatInstant),
  /** Rounded down to the minute. */
  minute: milliseconds.transform(minuteOf),
  day: z.iso.date("must be a day, YYYY-MM-DD"),
  clientName: oneLine(CLIENT_NAME_LENGTH_MAX),
  batchId: z.uuid("must be a UUID"),
  count: z.int().min(0, "must not be negative"),
  bucketMinutes: bucketMinutes(1),
  failureBucketMinutes: bucketMinutes(60),
  route: z.string().regex(ROUTE, "must be a method and a path"),
  failedField: z.string().regex(FIELD, "must be a name in lower case, * or empty"),
  servedStatus: z.string().regex(STATUS, "must be succeeded, failed or a status, such as 404"),
  requestsPageSize: pageSizeField({ default: 50, max: REQUESTS_PER_BRAND_MAX }),
  exportPageSize: pageSizeField({ default: 100, max: 1_000 }),
  pageSize: z.int().min(0, "must not be negative").max(1_000, "must be at most 1000"),
};

const clientFields = { address: fields.address.nullish(), browser: fields.browser.nullish() };

type WithClient = { readonly client?: Client | null | undefined };

/** Returns where a person's call comes from. */
export function clientOf({ client }: WithClient): Pick<PlannedEntry, "address" | "browser"> {
  const { address, browser } = parseRequest(clientFields, client ?? {});
  return { address: address ?? null, browser: browser ?? null };
}

/** Returns the entry of a call whose request says from where it comes: no grant does. */
export function entryOf({ entry }: CallContext, request: WithClient): PlannedEntry {
  if (entry === undefined) throw new Error("a method that writes an entry has none in its proto");
  return { ...entry, ...(request.client != null && clientOf(request)) };
}
