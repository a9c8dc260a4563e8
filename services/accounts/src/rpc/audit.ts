import { parseRequest } from "@brand-records/errors";
import type { AuditServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { nextEntryId } from "@brand-records/service-runtime";
import { z } from "zod";
import type { AccountsDependencies } from "../dependencies.ts";
import type { AuditEntry } from "../domain/audit-entry.ts";
import { appendAudit, type Announcement, exportAudit, finishAudit, listAudit, recordAudit } from "../use-cases/audit.ts";
import { keysNamed } from "../use-cases/keys.ts";
import { fields } from "./fields.ts";

export function auditHandlers(deps: Pick<AccountsDependencies, "db" | "sendsMail">): Handlers<AuditServiceService> {
  const { db } = deps;
  return {
    async recordAudit({ entries }) {
      const parsed = entries.map((entry) => ({ id: entry.id, ...entryFields.safeParse(entry) }));
      const taken = parsed.flatMap(({ data }) => data ?? []);
      return {
        epoch: await recordAudit(deps, taken),
        refused: parsed.flatMap(({ id, error }) => (error ? [{ id, problem: z.prettifyError(error) }] : [])),
      };
    },
    // Nothing is announced any more where every service writes its own entries: the caller goes on, and the change is recorded.
    async appendAudit(request, { person }) {
      const announced = parseRequest(announcedFields, request);
      return { entry: (await appendAudit(db, announced, person?.brand?.role)) ?? notWritten(announced) };
    },
    async finishAudit(request, { person }) {
      const { brand_id, entry_id, outcome, error_kind, subject_id } = parseRequest(resultFields, request);
      const key = { brandId: brand_id, id: entry_id, actor: person?.email ?? null };
      await finishAudit(db, key, { outcome, errorKind: error_kind, subjectId: subject_id });
      return { entry: null };
    },
    async listAudit(request) {
      const { brand_id, actor, action, from, to, page_size, page_token } = parseRequest(listFields, request);
      const { rows, nextPageToken } = await listAudit(db, { brandId: brand_id, actor, action, from, to }, page_size, page_token);
      const ids = rows.map(({ subject_id }) => subject_id);
      return { entries: rows, next_page_token: nextPageToken, keys: await keysNamed(db, brand_id, ids) };
    },
    async exportAudit(request) {
      const { since, page_size, page_token } = parseRequest(exportFields, request);
      return exportAudit(db, since, page_size, page_token);
    },
  };
}

const notWritten = (announced: Announcement): AuditEntry => ({
  ...announced,
  id: nextEntryId(),
  created_at: new Date().toISOString(),
  tries: 1,
  browser: null,
  outcome: null,
  error_kind: null,
  finished_at: null,
});

/** Null if absent. */
const optional = <Field extends z.ZodType>(field: Field) => field.nullish().transform((value) => value ?? null);

const entryFields = z.object({
  id: fields.auditId,
  brand_id: fields.brandId,
  actor: optional(fields.auditSubject),
  via: optional(fields.auditSubject),
  action: fields.actionOfOthers,
  subject_id: optional(fields.auditSubject),
  fields: fields.auditFields,
  role: optional(fields.role),
  request_id: fields.requestId,
  address: optional(fields.address),
  browser: optional(fields.browser),
  outcome: z.enum(["done", "failed"]),
  error_kind: optional(fields.errorKind),
  tries: z.int().min(1),
  created_at: fields.instant,
});

const announcedFields = {
  brand_id: fields.brandId,
  actor: optional(fields.email),
  action: fields.auditAction,
  subject_id: optional(fields.auditSubject),
  fields: fields.auditFields,
  request_id: fields.requestId,
  address: optional(fields.address),
  via: optional(fields.email),
  role: optional(fields.role),
};

const resultFields = {
  brand_id: fields.brandId,
  entry_id: fields.auditId,
  outcome: fields.outcome,
  error_kind: optional(fields.errorKind),
  subject_id: optional(fields.auditSubject),
};

const listFields = {
  brand_id: fields.brandId,
  actor: optional(fields.auditActor),
  action: optional(fields.auditActionOrKind),
  from: optional(fields.instant),
  to: optional(fields.instant),
  page_size: fields.auditPageSize,
  page_token: optional(z.string()),
};

const exportFields = {
  since: optional(fields.instant),
  page_size: fields.auditExportPageSize,
  page_token: optional(z.string()),
};
