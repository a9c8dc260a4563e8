import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import type { AuditClient } from "../connection/clients.ts";
import { CommandFailure } from "../failure.ts";
import { isAfter, positionOf, type Position } from "./entry-line.ts";

/** Entries a page: what is in memory at a time, 500 KB. */
const PAGE_SIZE = 1_000;

export interface EntriesPage {
  readonly entries: readonly AuditEntry[];
  /** Everything that was last changed before this time is in the pages up to this one, if it is the last. */
  readonly settledUntil: string;
}

/**
 * Reads the audit log of all brands page by page, in ascending order of position, up to what is settled.
 *
 * @param after the last entry that is known; undefined: begin at `since`
 * @param wait resolves when more may be settled; undefined: end instead
 * @throws CommandFailure `file_ahead` if `after` is later than what accounts may return
 */
export async function* readEntries(
  client: Pick<AuditClient, "exportAudit">,
  since: string | undefined,
  after: Position | undefined,
  wait?: () => Promise<void>,
): AsyncGenerator<EntriesPage> {
  // Entries of the last one's millisecond are read again, and skipped up to it.
  const from = after?.changedAt ?? since;
  for (let page_token: string | null | undefined; ;) {
    const page = await client.exportAudit({ since: from, page_size: PAGE_SIZE, page_token });
    if (after !== undefined && after.changedAt >= page.settled_until) throw ahead(after, page.settled_until);
    const entries = after === undefined ? page.entries : page.entries.filter((entry) => isAfter(positionOf(entry), after));
    yield { entries, settledUntil: page.settled_until };
    page_token = page.next_page_token ?? page_token;
    if (!page.end_reached) continue;
    if (wait === undefined) return;
    await wait();
  }
}

function ahead({ changedAt }: Position, settledUntil: string): CommandFailure {
  return new CommandFailure(
    "file_ahead",
    `The file ends with an entry of ${changedAt}, and accounts has entries up to ${settledUntil} only: new ones would be missing.`,
    { hint: "Is the clock of accounts' database right? Is the file of another system? Until then, export into another file." },
  );
}
