import type { Database } from "@brand-records/postgres";
import type { ImportProblem, ImportRecordsResponse, ImportSummary } from "@brand-records/proto/records/v1";
import type { ResourceName } from "@brand-records/resources";
import { checkLine } from "../domain/check-line.ts";
import { copyIntoStage, createStage, dropFromStage, linesChangingCreatedAt, stageRow, upsertStage } from "../storage/import-tables.ts";

const PROBLEMS_SENT_MAX = 1_000;
/** An import takes as long as its input; the pool's limit is for requests. */
const UNLIMITED = { statementTimeoutMs: 0 };

export interface ImportRequest {
  readonly brandId: string;
  readonly resource: ResourceName;
  readonly skipBad: boolean;
  /** Chunks of whole lines of NDJSON. Rejects if the input ends without a commit message. */
  readonly chunks: AsyncIterable<readonly string[]>;
  /** Resolves when the client can take more. */
  report(response: ImportRecordsResponse): Promise<void>;
}

/** Thrown inside the transaction to roll it back. */
class NothingImported extends Error {}

/** Imports in one transaction: everything, everything but the bad lines (`skipBad`), or nothing. */
export async function importRecords(db: Database, request: ImportRequest): Promise<ImportSummary> {
  const tally = new Tally(request);
  try {
    const counts = await db.transaction(async (sql) => {
      await createStage(sql, request.resource, request.brandId);
      await copyIntoStage(sql, request.resource, rowsOf(request, tally));
      const changing = await linesChangingCreatedAt(sql, request.resource, request.brandId);
      for (const { line, id } of changing) {
        await tally.addBadLine({
          line,
          field: "created_at",
          message: `differs from the created_at that ${id} has; created_at never changes`,
        });
      }
      if (tally.bad > 0 && !request.skipBad) throw new NothingImported();
      const badLines = changing.map(({ line }) => line);
      if (badLines.length > 0) await dropFromStage(sql, badLines);
      return upsertStage(sql, request.resource, request.brandId);
    }, UNLIMITED);
    return { ...counts, lines: tally.lines, bad: tally.bad, committed: true };
  } catch (error) {
    if (!(error instanceof NothingImported)) throw error;
    return { inserted: 0, updated: 0, unchanged: 0, lines: tally.lines, bad: tally.bad, committed: false };
  }
}

async function* rowsOf({ resource, chunks, report }: ImportRequest, tally: Tally): AsyncGenerator<string> {
  for await (const lines of chunks) {
    let rows = "";
    for (const text of lines) {
      tally.lines += 1;
      const checked = checkLine(resource, text);
      if (checked.kind === "record") rows += stageRow(resource, tally.lines, checked.record);
      if (checked.kind === "bad") await tally.addBadLine(...checked.problems.map((problem) => ({ line: tally.lines, ...problem })));
    }
    if (rows !== "") yield rows;
    await report({ progress: { lines: tally.lines } });
  }
}

/** Counts lines and bad lines, and reports at most PROBLEMS_SENT_MAX problems. */
class Tally {
  lines = 0;
  bad = 0;
  #sent = 0;
  readonly #report: ImportRequest["report"];

  constructor({ report }: ImportRequest) {
    this.#report = report;
  }

  /** @param problems every problem of one line */
  async addBadLine(...problems: ImportProblem[]): Promise<void> {
    this.bad += 1;
    for (const problem of problems) {
      if (this.#sent >= PROBLEMS_SENT_MAX) return;
      this.#sent += 1;
      await this.#report({ problem });
    }
  }
}
