import { type Column, option, shortTime } from "@brand-records/command-line";
import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import { namedBrand } from "../brand-lookup.ts";
import { readPages } from "../connection/read-pages.ts";
import { command, group } from "../session.ts";
import { exportAudit } from "./audit-export.ts";
import { brandOption, limitOption, parseInstantText, textOption } from "./options.ts";
import { printList } from "./print-list.ts";

/** The largest page that the service returns. */
const PAGE_SIZE_MAX = 200;

const COLUMNS: readonly Column<AuditEntry>[] = [
  { title: "TIME (UTC)", cell: ({ created_at }) => shortTime(created_at) },
  { title: "BY", cell: ({ actor, via }) => (actor ?? "operator") + (via == null ? "" : ` by a link of ${via}`), paint: "cyan" },
  { title: "ACTION", cell: ({ action }) => action },
  { title: "SUBJECT", cell: ({ subject_id }) => subject_id ?? "-" },
  { title: "FIELDS", cell: ({ fields, role }) => (role == null ? fields.join(", ") : `role: ${role}`) || "-" },
  {
    title: "OUTCOME",
    cell: ({ outcome, error_kind, tries }) =>
      [outcome ?? "not finished", error_kind].filter((part) => part != null).join(": ") + (tries > 1 ? ` (${tries} times)` : ""),
    paint: ({ outcome }) => (outcome === "done" ? "green" : "yellow"),
  },
  { title: "FROM", cell: ({ address, browser }) => [address ?? "-", browser].filter((part) => part != null).join(", ") },
];

const list = command("list", {
  summary: "list a brand's audit log",
  description:
    "List who changed a brand's setup, when and from where, newest first: the brand, members, keys, receivers and replays. Names of changed fields are kept, never their values. Changes made with brandctl are the operator's. What a person tried and was refused is one entry a day, with the number of tries. Entries of release 1.0 may be not finished or unknown: the change was interrupted.",
  options: {
    brand: brandOption("the brand"),
    actor: textOption("--by <person>", "only those of this e-mail address; operator for the operator's"),
    action: textOption("--action <action>", "only these, such as key.create"),
    from: option("--since <time>", "at or after this RFC 3339 time, such as 2026-11-21T08:30:00Z", parseInstantText),
    to: option("--until <time>", "before this RFC 3339 time", parseInstantText),
    limit: limitOption(),
  },
  examples: [
    ["brandctl audit list --brand brd_… --by operator", "what was changed with brandctl"],
    ["brandctl audit list --brand brd_… --action key.create --json | jq '.entries[]'", "who made keys"],
  ],
  run: async (session, { brand, limit, ...filter }) => {
    const brandId = namedBrand(session, brand);
    const client = session.client("accounts.audit");
    const listing = await readPages(limit, PAGE_SIZE_MAX, "entries", (page) => client.listAudit({ brand_id: brandId, ...filter, ...page }));
    const empty = "The audit log has no such entries.";
    await printList(session, listing, { brandId, name: "entries", columns: COLUMNS, limit, empty });
  },
});

export const auditCommand = group("audit", "show who changed what of a brand, or export it of all brands", [list, exportAudit]);
