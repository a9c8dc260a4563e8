import { type Column, shortTime, table } from "@brand-records/command-line";
import type { PersonRecords } from "../people/read-person.ts";
import type { Colors } from "../terminal.ts";

const text = <Name extends string>(title: string, name: Name): Column<{ readonly [Key in Name]: string }> => ({
  title,
  cell: (row) => row[name],
});
const time = <Name extends string>(title: string, name: Name): Column<{ readonly [Key in Name]?: string | null | undefined }> => ({
  title: `${title} (UTC)`,
  cell: (row) => shortTime(row[name]),
});
const byPerson = <Name extends string>(name: Name): Column<{ readonly [Key in Name]: boolean }> => ({
  title: "BY THE PERSON",
  cell: (row) => (row[name] ? "yes" : "no"),
});
const brand = { title: "BRAND", cell: ({ brand_id }: { readonly brand_id?: string | null | undefined }) => brand_id ?? "every brand" };

type Section = Exclude<keyof PersonRecords, "email">;

const SECTIONS: {
  readonly [Name in Section]: { readonly title: string; readonly columns: readonly Column<PersonRecords[Name][number]>[] };
} = {
  memberships: {
    title: "Memberships",
    columns: [
      brand,
      text("NAME", "brand_name"),
      text("ROLE", "role"),
      time("SINCE", "created_at"),
      {
        title: "MAIL",
        cell: (row) => [row.mail_receivers && "receivers", row.mail_plans_and_keys && "plans and keys"].filter(Boolean).join(", "),
      },
      { title: "MAIL OF THE LAST DAY", cell: ({ mails }) => mails.join(", ") },
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
    columns: [text("ISSUER", "issuer"), text("SUBJECT", "subject"), time("BOUND", "bound_at")],
  },
  keys: {
    title: "API keys that the person created or revoked",
    columns: [
      text("ID", "id"),
      brand,
      time("CREATED", "created_at"),
      byPerson("created_by_person"),
      time("REVOKED", "revoked_at"),
      byPerson("revoked_by_person"),
      text("NAME", "name"),
    ],
  },
  audit_entries: {
    title: "Audit log: what the person did, and what was done to the person",
    columns: [
      time("TIME", "created_at"),
      brand,
      { title: "BY", cell: ({ by, via_person }) => (via_person ? `${by}, by a link of the person` : by) },
      text("ACTION", "action"),
      { title: "SUBJECT", cell: ({ subject_id }) => subject_id ?? "-" },
      { title: "FROM", cell: ({ address, browser }) => [address ?? "-", browser].filter((part) => part != null).join(", ") },
      text("REQUEST", "request_id"),
    ],
  },
  erasures: { title: "Erasure that has begun", columns: [text("PSEUDONYM", "pseudonym"), time("BEGAN", "begun_at")] },
  plans: {
    title: "Plans that the person closed, or edited last",
    columns: [
      text("ID", "id"),
      brand,
      text("STATUS", "status"),
      time("CLOSED", "closed_at"),
      byPerson("closed_by_person"),
      time("EDITED", "edited_at"),
      byPerson("edited_by_person"),
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
