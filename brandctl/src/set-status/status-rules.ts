import { EVENT_TYPES, type EventType, isEventType, type ResourceName, RESOURCES } from "@brand-records/resources";

/** The kinds of records whose status changes make events, each with its resource: from the event types, kind.status. */
export const KINDS: ReadonlyMap<string, ResourceName> = new Map(
  Object.entries(EVENT_TYPES).map(([type, { resource }]) => [type.slice(0, type.indexOf(".")), resource]),
);

export const KIND_NAMES = [...KINDS.keys()];

/** @throws Error for a kind that KINDS does not have */
export function resourceOf(kind: string): ResourceName {
  const resource = KINDS.get(kind);
  if (resource === undefined) throw new Error(`there is no kind ${kind}`);
  return resource;
}

const { submissions, payouts } = RESOURCES;

export const REJECTION_CODES: readonly string[] = submissions.schema.shape.rejection_code.unwrap().unwrap().options;
export const FAILURE_CODES: readonly string[] = payouts.schema.shape.failure_code.unwrap().unwrap().options;
export const CODE_DEFAULT = "other";

/** What a writer must set together with a status. `code` stands for the reason given. */
const COMPANIONS: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
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

/** Returns the columns and SQL expressions to set with the status. */
export function companionsOf(kind: string, status: string): Readonly<Record<string, string>> {
  return COMPANIONS[kind]?.[status] ?? {};
}

export function statusesOf(kind: string): readonly string[] {
  return RESOURCES[resourceOf(kind)].schema.shape.status.options;
}

/** Returns the reasons that go with the status; undefined where there are none. */
export function codesOf(kind: string, status: string): readonly string[] | undefined {
  if (kind === "submission" && status === "rejected") return REJECTION_CODES;
  return kind === "payout" && status === "failed" ? FAILURE_CODES : undefined;
}

/** Returns the rule that an id of this kind breaks, such as "must be sub_ and …"; undefined if it breaks none. */
export function brokenIdRule(kind: string, id: string): string | undefined {
  return RESOURCES[resourceOf(kind)].schema.shape.id.safeParse(id).error?.issues[0]?.message;
}

/** Returns the event that a change to the status makes, if any. */
export function eventOf(kind: string, status: string): EventType | undefined {
  const type = `${kind}.${status}`;
  return isEventType(type) ? type : undefined;
}
