import type { AuditEntry } from "./audit-entry.ts";

/** A right that ended after a backup was taken. A database that is restored from the backup would give it back. */
export type LostRight =
  | { readonly right: "key"; readonly brandId: string; readonly keyId: string }
  | { readonly right: "membership"; readonly brandId: string; readonly email: string }
  /** An owner is a member now. */
  | { readonly right: "ownership"; readonly brandId: string; readonly email: string }
  /** The person's accounts at providers sign in no more. */
  | { readonly right: "identities"; readonly email: string }
  /** The brand was deleted, or is being deleted. */
  | { readonly right: "brand"; readonly brandId: string };

/** What no program can repeat: a person must look at it. */
export type OpenQuestion = Pick<AuditEntry, "brand_id" | "action" | "subject_id" | "created_at">;

/** What the restored database and what is known since say. */
export interface LostRights {
  readonly lost: readonly LostRight[];
  readonly open: readonly OpenQuestion[];
}

/** What of an audit entry says which rights ended. */
export type RightsEntry = Pick<
  AuditEntry,
  "id" | "brand_id" | "actor" | "action" | "subject_id" | "created_at" | "finished_at" | "outcome" | "role"
>;

/** What the later entries leave a person of a membership, beside what the backup has. */
type Limit = "none" | "member";

/** Actions that take nothing away for sure, and may have. Their entries have names, not values. */
const TO_LOOK_AT: ReadonlySet<string> = new Set(["brand.set_tier", "brand.set_verified"]);
const OPERATORS: ReadonlySet<string> = new Set(["brand.delete", "brand.set_tier", "brand.set_verified", "identity.unlink", "person.erase"]);
const PSEUDONYM = /^erased_/;

/**
 * Returns which rights have ended by these entries, in any order; of an id the last one counts. Prefers to take too much: an entry without
 * an outcome, or with an unknown one, took away what it was about, and gave nothing; a role that is not named is the lower one.
 */
export function lostRights(entries: Iterable<RightsEntry>): LostRights {
  const latest = new Map<string, RightsEntry>();
  for (const entry of entries) latest.set(entry.id, named(entry, latest.get(entry.id)));
  const found = new Found();
  const byTime = [...latest.values()].toSorted((a, b) => compare(endOf(a), endOf(b)) || compare(a.id, b.id));
  for (const entry of byTime) if (entry.outcome !== "failed") found.add(entry);
  return { lost: found.lost(), open: found.open };
}

/** An export that began after a person was erased has a pseudonym where an earlier one has the address. */
function named(entry: RightsEntry, earlier: RightsEntry | undefined): RightsEntry {
  const name = (now: string | null, before: string | null | undefined): string | null =>
    now !== null && before != null && PSEUDONYM.test(now) ? before : now;
  return { ...entry, actor: name(entry.actor, earlier?.actor), subject_id: name(entry.subject_id, earlier?.subject_id) };
}

const endOf = ({ created_at, finished_at }: RightsEntry): string => finished_at ?? created_at;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

class Found {
  readonly open: OpenQuestion[] = [];
  readonly #keys = new Map<string, string>();
  readonly #limits = new Map<string, Map<string, Limit>>();
  readonly #identities = new Set<string>();
  readonly #brands = new Set<string>();

  add(entry: RightsEntry): void {
    const { brand_id, action, actor } = entry;
    const subject = action === "member.leave" ? actor : entry.subject_id;
    // Only the operator does these. In 1.0 a member's session could write entries of the brand: it must not reach further by them.
    if (OPERATORS.has(action) && actor !== null) return;
    if (action === "brand.delete") this.#brands.add(brand_id);
    else if (TO_LOOK_AT.has(action)) this.#ask(entry);
    else if (subject === null || !concernsRights(action)) return;
    // The person was erased since. The backup has the address, which nothing names any more.
    else if (action === "person.erase" || PSEUDONYM.test(subject)) this.#ask(entry);
    else if (action === "key.revoke") this.#keys.set(subject, brand_id);
    else if (action === "identity.unlink") this.#identities.add(subject);
    else this.#limit(entry, subject);
  }

  #limit({ brand_id, action, outcome, role }: RightsEntry, email: string): void {
    const limits = this.#limits.get(brand_id) ?? new Map<string, Limit>();
    this.#limits.set(brand_id, limits);
    const before = limits.get(email);
    const isAdded = action === "member.add" && outcome === "done";
    if (action === "member.remove" || action === "member.leave") limits.set(email, "none");
    else if (role === "owner" && (isAdded || (outcome === "done" && before === "member"))) limits.delete(email);
    else if (role !== "owner" && (isAdded || before !== "none")) limits.set(email, "member");
  }

  #ask({ brand_id, action, subject_id, created_at }: RightsEntry): void {
    this.open.push({ brand_id, action, subject_id, created_at });
  }

  /** Brands come last: nothing is lost of one that is deleted. */
  lost(): LostRight[] {
    const rights: LostRight[] = [];
    for (const [keyId, brandId] of this.#keys) rights.push({ right: "key", brandId, keyId });
    for (const [brandId, limits] of this.#limits)
      for (const [email, limit] of limits) rights.push({ right: limit === "none" ? "membership" : "ownership", brandId, email });
    for (const email of this.#identities) rights.push({ right: "identities", email });
    for (const brandId of this.#brands) rights.push({ right: "brand", brandId });
    return rights;
  }
}

/** Whether entries of an action say that a right has ended, or was given. */
export const concernsRights = (action: string): boolean => ACTIONS.has(action) || TO_LOOK_AT.has(action);

const ACTIONS: ReadonlySet<string> = new Set([
  "brand.delete",
  "key.revoke",
  "member.add",
  "member.set_role",
  "member.remove",
  "member.leave",
  "identity.unlink",
  "person.erase",
]);
