import { isEventType, type EventType } from "@brand-records/brand-events";
import { RESOURCES } from "@brand-records/resources";

/** The records whose changes of status are told to integrations, by what one of them is called. */
export const KINDS = {
  submission: { resource: "submissions", prefix: "sub_" },
  payout: { resource: "payouts", prefix: "po_" },
  campaign: { resource: "campaigns", prefix: "cmp_" },
} as const;

export type Kind = keyof typeof KINDS;

export const KIND_NAMES = Object.keys(KINDS) as Kind[];

const { submissions, payouts } = RESOURCES;

export const REJECTION_CODES: readonly string[] = submissions.schema.shape.rejection_code.unwrap().unwrap().options;
export const FAILURE_CODES: readonly string[] = payouts.schema.shape.failure_code.unwrap().unwrap().options;
export const CODE_DEFAULT = "other";

/** What a writer sets together with a status, and nobody does for it. `code` stands for the reason that was given. */
const COMPANIONS: Readonly<Record<Kind, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  submission: {
    approved: { reviewed_at: "now()", rejection_code: "null" },
    rejected: { reviewed_at: "now()", rejection_code: "code" },
  },
  payout: {
    processing: { initiated_at: "coalesce(initiated_at, now())", failure_code: "null" },
    paid: { initiated_at: "coalesce(initiated_at, now())", paid_at: "now()", failure_code: "null" },
    failed: { initiated_at: "coalesce(initiated_at, now())", failure_code: "code" },
    cancelled: { failure_code: "null" },
  },
  campaign: { settled: { settled_at: "now()" } },
};

/** Columns and SQL expressions to set with the status. */
export function companionsOf(kind: Kind, status: string): Readonly<Record<string, string>> {
  return COMPANIONS[kind][status] ?? {};
}

export function statusesOf(kind: Kind): readonly string[] {
  return RESOURCES[KINDS[kind].resource].schema.shape.status.options;
}

/** The reasons that may be given with the status; undefined where none can. */
export function codesOf(kind: Kind, status: string): readonly string[] | undefined {
  if (kind === "submission" && status === "rejected") return REJECTION_CODES;
  return kind === "payout" && status === "failed" ? FAILURE_CODES : undefined;
}

/** What a change to the status is told as, if it is told. */
export function eventOf(kind: Kind, status: string): EventType | undefined {
  const type = `${kind}.${status}`;
  return isEventType(type) ? type : undefined;
}
