import type { BrandSizes, DemoResource, GeneratedBrand } from "@brand-records/demo-data";
import type { ImportSummary } from "@brand-records/proto/records/v1";
import { openProgressBar } from "@brand-records/command-line";
import { CommandFailure, Interrupted } from "../failure.ts";
import { importFrom } from "../import/import-from.ts";
import { problemLine } from "../import/report.ts";
import type { Session } from "../session.ts";

export interface GeneratedImport {
  readonly resource: DemoResource;
  readonly summary: ImportSummary;
}

/**
 * Imports one resource after another, each in its own transaction.
 *
 * @throws CommandFailure, Interrupted; the message names the resources imported before
 */
export async function importGenerated(
  session: Session,
  brandId: string,
  brand: GeneratedBrand,
  resources: readonly DemoResource[],
  sizes: BrandSizes,
): Promise<GeneratedImport[]> {
  const imports: GeneratedImport[] = [];
  for (const resource of resources) {
    const bar = openProgressBar(session, resource, sizes[resource]);
    try {
      const { summary, problems } = await importFrom(session, { brandId, resource, skipBad: false }, lines(brand[resource]()), (progress) =>
        bar.update(progress.lines, progress.lines),
      );
      const [problem] = problems;
      if (problem !== undefined) throw new CommandFailure("refused", `The generated ${resource} were refused: ${problemLine(problem)}.`);
      imports.push({ resource, summary });
    } catch (error) {
      throw withImported(error, imports);
    } finally {
      bar.stop();
    }
  }
  return imports;
}

function withImported(error: unknown, imports: readonly GeneratedImport[]): unknown {
  if (!(error instanceof CommandFailure) || imports.length === 0) return error;
  const done = `Imported before: ${imports.map(({ resource }) => resource).join(", ")}.`;
  if (error instanceof Interrupted) return new Interrupted(`${error.message} ${done}`, error.hint);
  return new CommandFailure(error.code, `${error.message} ${done}`, { cause: error, hint: error.hint });
}

function* lines(records: Iterable<object>): Generator<string> {
  for (const record of records) yield JSON.stringify(record);
}
