import type { ImportProblem, ImportSummary } from "@brand-records/proto/records/v1";
import { counted, printable } from "@brand-records/command-line";
import { explainUnreachable } from "../connection/explain-unreachable.ts";
import { CommandFailure, Interrupted } from "../failure.ts";
import type { Session } from "../session.ts";
import type { ImportResult, ImportTarget } from "./import-records.ts";
import type { InputLine } from "./read-lines.ts";
import type { Colors } from "../terminal.ts";

/**
 * Imports as part of a command: Ctrl-C cancels it, and every failure says whether anything was imported.
 *
 * @throws Interrupted after Ctrl-C, CommandFailure otherwise
 */
export async function importFrom(
  session: Session,
  { cell, ...target }: Omit<ImportTarget, "signal"> & { readonly cell: string | null },
  lines: AsyncIterable<InputLine> | Iterable<InputLine>,
  onProgress: (progress: { readonly lines: number }) => void,
): Promise<ImportResult> {
  const { importRecords, ImportBroken } = await import("./import-records.ts");
  const { client, endpoint, tls } = await session.imports(cell);
  const { interrupted } = session.terminal;
  try {
    return await importRecords(client, { ...target, signal: interrupted }, lines, onProgress);
  } catch (error) {
    if (!(error instanceof ImportBroken)) throw error;
    if (interrupted.aborted) throw new Interrupted(`Interrupted. ${error.outcome}`);
    const explained = explainUnreachable(error.reason, endpoint, tls);
    if (!(explained instanceof CommandFailure)) throw new CommandFailure(error.reason.kind, error.message, { cause: error });
    throw new CommandFailure(explained.code, `${explained.message} ${error.outcome}`, { cause: error, hint: explained.hint });
  }
}

/** `line 17: status: must be one of …` */
export function problemLine({ line, field, message }: ImportProblem): string {
  return printable(`line ${line}: ${field == null ? "" : `${field}: `}${message}`);
}

interface Outcome extends ImportSummary {
  readonly resource: string;
  readonly brandId: string;
  /** Blank lines. */
  readonly blank: number;
  /** Problems shown. */
  readonly shown: number;
}

/** Describes the outcome of an import. */
export function summaryText(outcome: Outcome, colors: Colors): string {
  const { committed, bad, lines, blank, resource, brandId } = outcome;
  const filled = lines - blank;
  const more = outcome.shown >= 1_000 ? "Only the first 1,000 problems are shown. " : "";
  if (!committed && bad > 0) {
    const some = `${bad.toLocaleString("en")} of ${counted(filled, "line")} ${bad === 1 ? "is" : "are"} bad`;
    return `${more}${colors.red(`Nothing was imported: ${some}.`)} Correct ${bad === 1 ? "it" : "them"}, or import the others with --skip-bad.`;
  }
  if (!committed) return colors.red("Nothing was imported: the service did not commit.");
  if (filled === 0) return `Nothing to import: the input holds ${blank === 0 ? "no lines" : `only ${counted(blank, "blank line")}`}.`;
  const arrived = outcome.inserted + outcome.updated + outcome.unchanged;
  const repeated = filled - bad - arrived;
  const parts = [
    ...(outcome.inserted > 0 ? [`${outcome.inserted.toLocaleString("en")} new`] : []),
    ...(outcome.updated > 0 ? [`${outcome.updated.toLocaleString("en")} changed`] : []),
    ...(outcome.unchanged > 0 ? [`${outcome.unchanged.toLocaleString("en")} unchanged`] : []),
    ...(repeated > 0 ? [`${counted(repeated, "line")} replaced by a later one with the same id`] : []),
    ...(blank > 0 ? [`${counted(blank, "blank line")} skipped`] : []),
  ];
  const imported = colors.green(`Imported ${arrived.toLocaleString("en")} ${resource} into ${printable(brandId)}`);
  const badPart = bad > 0 ? `\n${more}${colors.red(`${counted(bad, "bad line")} left out.`)}` : "";
  return `${imported}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}.${badPart}`;
}
