import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import { counted, openProgressBar } from "@brand-records/command-line";
import type { AuditClient } from "../connection/clients.ts";
import { CommandFailure, Interrupted, restated } from "../failure.ts";
import type { Session } from "../session.ts";
import { isAfter, lineOf, positionOf, type Position } from "./entry-line.ts";

/** Where the lines go. */
export interface Sink {
  /** Position of the last line that is there. */
  readonly last: Position | undefined;
  /** Returns false if there is no reader any more. */
  write(lines: string): Promise<boolean>;
  /** The progress would be shown among the lines. */
  readonly isScreen: boolean;
  /** Makes the line of an entry, with its end. Default: every field. */
  readonly lineOf?: (entry: AuditEntry) => string;
  /** Waits for more at the end of what is settled. Default: the export ends there. */
  readonly wait?: () => Promise<void>;
  /** What an error says of the entries that were written. */
  kept(entries: number): string;
}

export interface Exported {
  readonly entries: number;
  /** When the first of the entries was last changed; null without one. */
  readonly from: string | null;
  /** Everything before is exported. */
  readonly until: string | null;
}

/**
 * Writes the audit log of all brands, from `since` or after what is there. Holds one page in memory.
 *
 * @throws Interrupted at Ctrl-C; CommandFailure, which says what was written
 */
export async function exportEntries(session: Session, client: AuditClient, sink: Sink, since: string | undefined): Promise<Exported> {
  const bar = sink.isScreen ? undefined : openProgressBar(session, "audit log", undefined, { unit: "entries", atEnd: "" });
  let exported: Exported = { entries: 0, from: null, until: null };
  try {
    for await (const { entries, settledUntil } of readEntries(client, since, sink.last, sink.wait)) {
      const [first] = entries;
      if (first !== undefined && !(await sink.write(entries.map(sink.lineOf ?? lineOf).join("")))) return exported;
      const count = exported.entries + entries.length;
      exported = { entries: count, from: exported.from ?? (first && positionOf(first).changedAt) ?? null, until: settledUntil };
      bar?.update(0, count);
    }
    return exported;
  } catch (error) {
    throw explained(error, session, sink.kept(exported.entries));
  } finally {
    bar?.stop();
  }
}

function explained(error: unknown, { terminal }: Session, kept: string): unknown {
  if (terminal.interrupted.aborted) return new Interrupted(`Interrupted. ${kept}`);
  return restated(error, `${(error as Error).message} ${kept}`);
}

export const keptInFile = (entries: number): string =>
  entries === 0
    ? "No entries were added to the file. The same command tries again."
    : `${counted(entries, "entry", "entries")} ${entries === 1 ? "was" : "were"} added to the file. The same command goes on after ${entries === 1 ? "it" : "them"}.`;

export const keptNowhere = (entries: number): string =>
  `${counted(entries, "entry", "entries")} ${entries === 1 ? "was" : "were"} written.`;

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
