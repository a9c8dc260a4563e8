import type { ExportPersonResponse } from "@brand-records/proto/accounts/v1";
import type { PersonPlan } from "@brand-records/proto/plans/v1";
import { readPages } from "../connection/read-pages.ts";
import type { Session } from "../session.ts";

/** The largest page that the services return. */
const PAGE_SIZE_MAX = 1_000;

type OfAccounts = Omit<ExportPersonResponse, "next_page_token">;

/** All that is kept about a person, in every service that keeps something. */
export interface PersonRecords extends OfAccounts {
  readonly email: string;
  readonly plans: PersonPlan[];
}

/** Reads every page of every service. */
export async function readPerson(session: Session, address: string): Promise<PersonRecords> {
  const email = address.toLowerCase();
  const [accounts, plans] = [session.client("accounts.operator"), session.client("plans.operator")];
  const sections: Record<string, unknown[]> = {};
  await readPages<"memberships", object>(Infinity, PAGE_SIZE_MAX, "memberships", async (page) => {
    const { next_page_token, ...found } = await accounts.exportPerson({ email, ...page });
    for (const [section, records] of Object.entries(found)) (sections[section] ??= []).push(...records);
    return { ...found, next_page_token };
  });
  const { items } = await readPages(Infinity, PAGE_SIZE_MAX, "plans", (page) => plans.exportPerson({ email, ...page }));
  return { email, ...(sections as unknown as OfAccounts), plans: items };
}

export const isEmpty = (person: PersonRecords): boolean =>
  Object.values(person).every((records) => !Array.isArray(records) || records.length === 0);
