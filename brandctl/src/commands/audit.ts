import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import { Command } from "commander";
import { type Column, shortTime, table } from "@brand-records/command-line";
import { emptyListText, namedBrand } from "../brand-lookup.ts";
import { readPages } from "../connection/read-pages.ts";
import type { Shell } from "../shell.ts";
import type { Colors } from "../terminal.ts";
import { exportAudit } from "./audit-export.ts";
import { brandOption, examples, limitOption, noteLimit, parseTime, textParser } from "./options.ts";

/** The largest page that the service returns. */
const PAGE_SIZE_MAX = 200;

export function auditCommand(shell: Shell): Command {
  return new Command("audit")
    .description("show who changed what of a brand, or export it of all brands")
    .addCommand(list(shell))
    .addCommand(exportAudit(shell));
}

interface ListOptions {
  readonly brand?: string;
  readonly by?: string;
  readonly action?: string;
  readonly since?: number;
  readonly until?: number;
  readonly limit: number;
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list a brand's audit log")
    .description(
      "List who changed a brand's setup, when and from where, newest first: the brand, members, keys, receivers and replays. Names of changed fields are kept, never their values. Changes made with brandctl are the operator's.",
    )
    .addOption(brandOption("the brand"))
    .option("--by <person>", "only those of this e-mail address; operator for the operator's", textParser("--by"))
    .option("--action <action>", "only these, such as key.create", textParser("--action"))
    .option("--since <time>", "at or after this RFC 3339 time, such as 2026-11-21T08:30:00Z", parseTime)
    .option("--until <time>", "before this RFC 3339 time", parseTime)
    .addOption(limitOption())
    .addHelpText(
      "after",
      examples(
        ["brandctl audit list --brand brd_… --by operator", "what was changed with brandctl"],
        ["brandctl audit list --brand brd_… --action key.create --json | jq '.entries[]'", "who made keys"],
      ),
    )
    .action(({ brand, by, action, since, until, limit }: ListOptions, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = namedBrand(session, brand);
        const client = await session.audit();
        const filter = { brand_id: brandId, actor: by, action, from: timeText(since), to: timeText(until) };
        const listing = await readPages(limit, PAGE_SIZE_MAX, async ({ page_size, after_id }) => {
          const { entries, next_page_token } = await client.listAudit({ ...filter, page_size, page_token: after_id });
          return { items: entries, next: next_page_token };
        });
        const { items: entries } = listing;
        const none = entries.length === 0 ? await emptyListText(session, brandId, "The audit log has no such entries.") : "";
        session.print({ entries }, (colors) => table(columns(colors), entries, colors, none));
        noteLimit(session, listing, limit);
      }),
    );
}

const timeText = (milliseconds: number | undefined): string | undefined =>
  milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();

function columns(colors: Colors): Column<AuditEntry>[] {
  return [
    { title: "TIME (UTC)", cell: ({ created_at }) => shortTime(created_at) },
    { title: "BY", cell: ({ actor, via }) => (actor ?? "operator") + (via == null ? "" : ` by a link of ${via}`), paint: colors.cyan },
    { title: "ACTION", cell: ({ action }) => action },
    { title: "SUBJECT", cell: ({ subject_id }) => subject_id ?? "-" },
    { title: "FIELDS", cell: ({ fields, role }) => (role == null ? fields.join(", ") : `role: ${role}`) || "-" },
    {
      title: "OUTCOME",
      cell: ({ outcome, error_kind, tries }) =>
        [outcome ?? "not finished", error_kind].filter((part) => part != null).join(": ") + (tries > 1 ? ` (${tries} times)` : ""),
      paint: (text, { outcome }) => (outcome === "done" ? colors.green(text) : colors.yellow(text)),
    },
    { title: "FROM", cell: ({ address, browser }) => [address ?? "-", browser].filter((part) => part != null).join(", ") },
  ];
}
