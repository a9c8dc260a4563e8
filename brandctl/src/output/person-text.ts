import { type Column, shortTime, table } from "@brand-records/command-line";
import type { PersonRecords } from "../people/read-person.ts";
import type { Colors } from "../terminal.ts";

const yesNo = (value: boolean): string => (value ? "yes" : "no");
const brand = { title: "BRAND", cell: ({ brand_id }: { readonly brand_id?: string | null | undefined }) => brand_id ?? "every brand" };
const time = <Name extends string>(title: string, name: Name): Column<{ readonly [Key in Name]?: string | null | undefined }> => ({
  title: `${title} (UTC)`,
  cell: (row) => shortTime(row[name]),
});

type Section = Exclude<keyof PersonRecords, "email">;

const SECTIONS: {
  readonly [Name in Section]: { readonly title: string; readonly columns: readonly Column<PersonRecords[Name][number]>[] };
} = {
  memberships: {
    title: "Memberships",
    columns: [
      brand,
      { title: "NAME", cell: ({ brand_name }) => brand_name },
      { title: "ROLE", cell: ({ role }) => role },
      time("SINCE", "created_at"),
    ],
  },
  sessions: {
    title: "Sessions",
    columns: [
      { title: "OF", cell: ({ of_person }) => (of_person ? "the person" : "another, by a link of the person") },
      { title: "SIGNED IN BY", cell: ({ issuer }) => issuer ?? "a link" },
      brand,
      time("BEGAN", "created_at"),
      time("LAST USED", "last_used_at"),
    ],
  },
  sign_in_links: {
    title: "Sign-in links",
    columns: [
      { title: "FOR", cell: ({ of_person }) => (of_person ? "the person" : "another, by the person") },
      brand,
      time("MADE", "created_at"),
      time("EXPIRES", "expires_at"),
      time("USED", "used_at"),
    ],
  },
  identities: {
    title: "Accounts at sign-in providers",
    columns: [
      { title: "ISSUER", cell: ({ issuer }) => issuer },
      { title: "SUBJECT", cell: ({ subject }) => subject },
      time("BOUND", "bound_at"),
    ],
  },
  keys: {
    title: "API keys that the person created or revoked",
    columns: [
      { title: "ID", cell: ({ id }) => id },
      brand,
      time("CREATED", "created_at"),
      { title: "BY THE PERSON", cell: ({ created_by_person }) => yesNo(created_by_person) },
      time("REVOKED", "revoked_at"),
      { title: "BY THE PERSON", cell: ({ revoked_by_person }) => yesNo(revoked_by_person) },
      { title: "NAME", cell: ({ name }) => name },
    ],
  },
  audit_entries: {
    title: "Audit log: what the person did, and what was done to the person",
    columns: [
      time("TIME", "created_at"),
      brand,
      { title: "BY", cell: ({ by, via_person }) => (via_person ? `${by}, by a link of the person` : by) },
      { title: "ACTION", cell: ({ action }) => action },
      { title: "SUBJECT", cell: ({ subject_id }) => subject_id ?? "-" },
      { title: "FROM", cell: ({ address, browser }) => [address ?? "-", browser].filter((part) => part != null).join(", ") },
      { title: "REQUEST", cell: ({ request_id }) => request_id },
    ],
  },
  erasures: {
    title: "Erasure that has begun",
    columns: [{ title: "PSEUDONYM", cell: ({ pseudonym }) => pseudonym }, time("BEGAN", "begun_at")],
  },
  plans: {
    title: "Plans that the person closed, or edited last",
    columns: [
      { title: "ID", cell: ({ id }) => id },
      brand,
      { title: "STATUS", cell: ({ status }) => status },
      time("CLOSED", "closed_at"),
      { title: "BY THE PERSON", cell: ({ closed_by_person }) => yesNo(closed_by_person) },
      time("EDITED", "edited_at"),
      { title: "BY THE PERSON", cell: ({ edited_by_person }) => yesNo(edited_by_person) },
    ],
  },
};

/** Lays out what is kept about a person: a table for each kind of record that there is. */
export function personText(person: PersonRecords, colors: Colors): string {
  return (Object.keys(SECTIONS) as Section[])
    .filter((name) => person[name].length > 0)
    .map((name) => sectionText(name, person, colors))
    .join("\n\n");
}

function sectionText<Name extends Section>(name: Name, person: PersonRecords, colors: Colors): string {
  const { title, columns } = SECTIONS[name];
  const rows: readonly PersonRecords[Name][number][] = person[name];
  return `${colors.bold(title)}\n${table(columns, rows, colors, "")}`;
}
