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
