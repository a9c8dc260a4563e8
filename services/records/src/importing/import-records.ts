import type { Database } from "@brand-records/postgres";
import type { ImportProblem, ImportRecordsResponse, ImportSummary } from "@brand-records/proto/records/v1";
import type { ResourceName } from "@brand-records/resources";
import { copyIntoStage, createStage, dropFromStage, linesChangingCreatedAt, upsertStage } from "../storage/import-tables.ts";
import { columnsOf } from "../storage/record-tables.ts";
import { checkLine } from "./check-line.ts";
import { copyRow } from "./copy-text.ts";

const PROBLEMS_SENT_MAX = 1_000;

export interface ImportRequest {
  readonly brandId: string;
  readonly resource: ResourceName;
  readonly skipBad: boolean;
  /** Whole lines of NDJSON, chunk by chunk. Rejects if it ends before the commit was asked for. */
  readonly chunks: AsyncIterable<readonly string[]>;
  /** Resolves when the receiver has room for more. */
  report(response: ImportRecordsResponse): Promise<void>;
}

/** Carries the summary out of a transaction that must not commit. */
class NothingImported extends Error {}

/** Imports in one transaction: all of it, all but the bad lines (`skipBad`), or nothing. */
export async function importRecords(db: Database, request: ImportRequest): Promise<ImportSummary> {
  const tally = new Tally(request);
  try {
    const counts = await db.transaction(async (sql) => {
      await createStage(sql, request.resource);
      await copyIntoStage(sql, request.resource, rowsOf(request, tally));
      const changing = await linesChangingCreatedAt(sql, request.resource, request.brandId);
      for (const { line, id } of changing) {
        await tally.problem({
          line,
          field: "created_at",
          message: `differs from the created_at ${id} has already; created_at never changes`,
        });
      }
      if (tally.bad > 0 && !request.skipBad) throw new NothingImported();
      if (changing.length > 0)
        await dropFromStage(
          sql,
          changing.map(({ line }) => line),
        );
      return upsertStage(sql, request.resource, request.brandId);
    });
    return { ...counts, lines: tally.lines, bad: tally.bad, committed: true };
  } catch (error) {
    if (!(error instanceof NothingImported)) throw error;
    return { inserted: 0, updated: 0, unchanged: 0, lines: tally.lines, bad: tally.bad, committed: false };
  }
}

async function* rowsOf({ resource, chunks, report }: ImportRequest, tally: Tally): AsyncGenerator<string> {
  const columns = columnsOf(resource);
  for await (const lines of chunks) {
    let rows = "";
    for (const text of lines) {
      tally.lines += 1;
      const checked = checkLine(resource, text);
      if (checked.kind === "record") rows += copyRow([tally.lines, ...columns.map((column) => checked.record[column])]);
      if (checked.kind === "bad") await tally.problem(...checked.problems.map((problem) => ({ line: tally.lines, ...problem })));
    }
    if (rows !== "") yield rows;
    await report({ progress: { lines: tally.lines } });
  }
}

/** Counts lines and bad lines; passes problems on, up to a bound. */
class Tally {
  lines = 0;
  bad = 0;
  #sent = 0;
  readonly #report: ImportRequest["report"];

  constructor({ report }: ImportRequest) {
    this.#report = report;
  }

  /** All of one line. */
  async problem(...problems: ImportProblem[]): Promise<void> {
    this.bad += 1;
    for (const problem of problems) {
      if (this.#sent >= PROBLEMS_SENT_MAX) return;
      this.#sent += 1;
      await this.#report({ problem });
    }
  }
}
