import { parseRequest } from "@brand-records/errors";
import type { AuditServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { z } from "zod";
import type { AccountsDependencies } from "../dependencies.ts";
import { appendAudit, exportAudit, finishAudit, listAudit, requireOwnAction } from "../use-cases/audit.ts";
import { fields } from "./fields.ts";

export function auditHandlers({ db }: Pick<AccountsDependencies, "db">): Handlers<AuditServiceService> {
  return {
    async appendAudit(request, { person }) {
      const entry = parseRequest(entryFields, request);
      if (person !== undefined) requireOwnAction(entry.action, person.brand?.role);
      return { entry: await appendAudit(db, entry) };
    },
    async finishAudit(request, { person }) {
      const { brand_id, entry_id, outcome, error_kind, subject_id } = parseRequest(resultFields, request);
      const key = { brandId: brand_id, id: entry_id, actor: person?.email ?? null };
      return { entry: await finishAudit(db, key, { outcome, errorKind: error_kind, subjectId: subject_id }) };
    },
    async listAudit(request) {
      const { brand_id, actor, action, from, to, page_size, page_token } = parseRequest(listFields, request);
      const { rows, nextPageToken } = await listAudit(db, { brandId: brand_id, actor, action, from, to }, page_size, page_token);
      return { entries: rows, next_page_token: nextPageToken };
    },
    async exportAudit(request) {
      const { since, page_size, page_token } = parseRequest(exportFields, request);
      return exportAudit(db, since, page_size, page_token);
    },
  };
}

/** Null if absent. */
const optional = <Field extends z.ZodType>(field: Field) => field.nullish().transform((value) => value ?? null);

const entryFields = {
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
