import { AppError } from "@brand-records/errors";
import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import { counted, openProgressBar } from "@brand-records/command-line";
import type { AuditClient } from "../connection/clients.ts";
import { CommandFailure, Interrupted } from "../failure.ts";
import type { Session } from "../session.ts";
import { lineOf, positionOf, type Position } from "./entry-line.ts";
import { readEntries } from "./read-entries.ts";

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
  if (error instanceof AppError) return new CommandFailure(error.kind, `${error.message} ${kept}`, { cause: error });
  if (!(error instanceof CommandFailure)) return error;
  return new CommandFailure(error.code, `${error.message} ${kept}`, { cause: error, hint: error.hint });
}

export const keptInFile = (entries: number): string =>
  entries === 0
    ? "No entries were added to the file. The same command tries again."
    : `${counted(entries, "entry", "entries")} ${entries === 1 ? "was" : "were"} added to the file. The same command goes on after ${entries === 1 ? "it" : "them"}.`;

export const keptNowhere = (entries: number): string =>
  `${counted(entries, "entry", "entries")} ${entries === 1 ? "was" : "were"} written.`;
