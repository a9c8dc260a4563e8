import { hash } from "node:crypto";
import { AppError } from "@brand-records/errors";

export const AUDIT_OUTCOMES = ["done", "failed", "unknown"] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

export interface AuditEntry {
  readonly id: string;
  readonly brand_id: string;
  /** E-mail address of the member; null: the operator. */
  readonly actor: string | null;
  readonly action: string;
  readonly subject_id: string | null;
  readonly fields: string[];
  readonly request_id: string;
  readonly address: string | null;
  readonly created_at: string;
  readonly outcome: AuditOutcome | null;
  readonly error_kind: string | null;
  readonly finished_at: string | null;
  /** E-mail address of the owner whose link opened the actor's session. */
  readonly via: string | null;
  /** The browser's family; only of sign-ins and sign-outs. */
  readonly browser: string | null;
  /** The role that was given to a member. */
  readonly role: string | null;
  /** More than 1 only for refused sign-ins. */
  readonly tries: number;
}

/** What a list selects; null: everything. */
export interface AuditFilter {
  readonly brandId: string;
  /** E-mail address of a member, or `operator`. */
  readonly actor: string | null;
  /** An action, or the first of its two names. */
  readonly action: string | null;
  readonly from: string | null;
  readonly to: string | null;
}

/** What a list of the log selects, for its page tokens. */
export const scopeOf = ({ brandId, actor, action, from, to }: AuditFilter): readonly unknown[] => [brandId, actor, action, from, to];

/** The last entry of a page of the export of all brands' audit log. */
export interface AuditExportPosition {
  /** When the entry was last changed. */
  readonly changedAt: string;
  readonly id: string;
}

export const exportPositionOf = ({ finished_at, created_at, id }: AuditEntry): AuditExportPosition => ({
  changedAt: finished_at ?? created_at,
  id,
});

const TOKEN = /^1 ([0-9a-f]{16}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (aud_[0-9a-z]{1,40})$/;

/** Returns an opaque token to continue after `position`, for the same `since` only. */
export function auditExportToken(since: string | null, { changedAt, id }: AuditExportPosition): string {
  return Buffer.from(["1", digestOf(since), changedAt, id].join(" ")).toString("base64url");
}

/** @throws AppError `invalid_cursor` for a token of another `since`, and for any other text */
export function auditExportPositionOf(since: string | null, token: string): AuditExportPosition {
  const [, digest, changedAt, id] = TOKEN.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (digest === digestOf(since) && changedAt !== undefined && id !== undefined) return { changedAt, id };
  throw new AppError("invalid_cursor", "page_token is not one of this export. Start again without it.", { field: "page_token" });
}

/** Differs from that of a list, so that a token of a list is refused. */
const digestOf = (since: string | null): string => hash("sha256", JSON.stringify(["export", since])).slice(0, 16);
