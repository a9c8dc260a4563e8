import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as timers from "node:timers/promises";
import { compileFunction } from "node:vm";
import { transformSync } from "@swc/core";
import pg from "pg";

type Accounts = Pick<pg.Pool, "query"> | { query(): Promise<{ rows: { cell: string }[] }> };
type InCellOf = <T>(
  accounts: Accounts,
  pools: Readonly<Record<string, pg.Pool>>,
  brandId: string,
  work: (sql: pg.PoolClient) => Promise<T>,
) => Promise<T>;

export interface DocumentedWriter {
  readonly inCellOf: InCellOf;
  openCellPool(config: pg.PoolConfig): pg.Pool;
}

/** Returns the code of docs/platform.md that writes in the cell of a brand. */
export async function documentedWriter(): Promise<DocumentedWriter> {
  const page = await readFile(join(import.meta.dirname, "../../../docs/platform.md"), "utf8");
  const [, source = ""] = /^## Records in cells[^]*?```ts\n([^]*?)```/m.exec(page) ?? [];
  const { code } = transformSync(source, { jsc: { parser: { syntax: "typescript" }, target: "es2024" }, module: { type: "commonjs" } });
  const exported: Partial<DocumentedWriter> = {};
  const required = (name: string): unknown => (name === "pg" ? pg : timers);
  (compileFunction(code, ["require", "exports"]) as (...given: unknown[]) => void)(required, exported);
  return exported as DocumentedWriter;
}
