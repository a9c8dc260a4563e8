import type { AuditEntry as Message } from "@brand-records/proto/accounts/v1";
import type { RowOf } from "@brand-records/proto/rows";

export const AUDIT_OUTCOMES = ["done", "failed", "unknown"] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** `outcome` is null, or unknown, only in entries that a console or brandctl of 1.0 has announced. */
export type AuditEntry = RowOf<Message, { readonly outcome: AuditOutcome | null }>;

/**
 * Actions of plans and webhook. Accounts writes all others itself: only an entry tells of a deleted brand, and a restore takes rights away by
 * others.
 */
export const ACTION_OF_OTHERS = /^(?:plan|receiver|delivery|replay)\.[a-z_]{1,40}$/;

/** Whether it is no entry: something that happens without a person, on its way to the mail of owners. */
export const isNotice = (action: string): boolean => /^notice\.[a-z_]{1,40}$/.test(action);

/**
 * Whether a console or brandctl of 1.0 may say that it does this. It may say it to this release and do it at a process of 1.0, also of
 * accounts, which wrote sign-ins, links, erasures and deletions itself.
 *
 * @param role of the person who acts, undefined for the operator
 */
export function mayAnnounce(action: string, role: "owner" | "member" | undefined): boolean {
  if (ACTION_OF_OTHERS.test(action) || action === "member.leave") return true;
  if (/^(?:key|member)\./.test(action)) return role !== "member";
  return role === undefined && ["brand.create", "brand.set_tier", "brand.set_verified"].includes(action);
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
