import { AppError } from "@brand-records/errors";
import { hash } from "node:crypto";

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

/** The last entry of a page. */
export interface AuditPosition {
  readonly createdAt: string;
  readonly id: string;
}

const VERSION = "1";
const TOKEN = /^1 ([0-9a-f]{16}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (aud_[0-9a-z]{1,40})$/;

/** Returns an opaque token to continue after `position`, for the same filter only. */
export function pageToken(filter: AuditFilter, { createdAt, id }: AuditPosition): string {
  return Buffer.from([VERSION, digestOf(filter), createdAt, id].join(" ")).toString("base64url");
}

/** @throws AppError `invalid_cursor` for a token of another filter, and for any other text */
export function positionOf(filter: AuditFilter, token: string): AuditPosition {
  const [, digest, createdAt, id] = TOKEN.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (digest === digestOf(filter) && createdAt !== undefined && id !== undefined) return { createdAt, id };
  throw new AppError("invalid_cursor", "page_token is not one of this list. Start again without it.", { field: "page_token" });
}

/** Catches a mistake, not an attack: every query is bound to the brand. */
function digestOf({ brandId, actor, action, from, to }: AuditFilter): string {
  return hash("sha256", JSON.stringify([brandId, actor, action, from, to])).slice(0, 16);
}
