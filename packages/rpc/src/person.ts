/** Whom a call acts for, as a grant has proved. */
export interface Person {
  readonly email: string;
  /** The owner whose link opened the session; null as `limitedTo` is. */
  readonly via: string | null;
  /** The one brand that the session opens; null: every brand of the person. */
  readonly limitedTo: string | null;
  /** The brand of the call, and what the person is in it; null for a call of none. */
  readonly brand: { readonly id: string; readonly role: "owner" | "member" } | null;
}
