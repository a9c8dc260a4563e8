import type { Plan } from "@brand-records/console-contract";

/** What only a person can confirm. */
export const CONFIRMATIONS = [
  { name: "pay", text: "What creators are paid is right", description: "The budget and what the brief promises them" },
  { name: "rights", text: "We have the rights this content needs", description: "Music, images, names and the creators’ own work" },
  { name: "funding", text: "We will fund this ourselves", description: "No money moves because of this plan" },
] as const;

type Confirmation = (typeof CONFIRMATIONS)[number]["name"];

/** Confirmations hold for one revision: any edit, of any person, makes them void. */
export interface Confirmations {
  readonly revision: number;
  readonly names: readonly Confirmation[];
}

export const isConfirmed = ({ revision, names }: Confirmations, plan: Plan, name: Confirmation): boolean =>
  revision === plan.revision && names.includes(name);

/** No plan has this revision. What was confirmed is kept, to say that it no longer holds. */
export const voided = ({ names }: Confirmations): Confirmations => ({ revision: 0, names });
