import type { Statement } from "./sql.ts";

/**
 * Names each statement after its key, in the traces and for Postgres, which prepares it under this name once in a connection:
 * `lockOne` of "lanes" is `lanes.lock_one`.
 */
export function statementsOf<Key extends string>(
  prefix: string,
  texts: Readonly<Record<Key, string | Omit<Statement, "name">>>,
): Readonly<Record<Key, Statement>> {
  const entries = Object.entries<string | Omit<Statement, "name">>(texts).map(([key, given]) => {
    const name = `${prefix}.${snakeCase(key)}`;
    return [key, typeof given === "string" ? { name, text: given } : { name, ...given }];
  });
  return Object.fromEntries(entries) as Record<Key, Statement>;
}

const snakeCase = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the first row, if there is one. */
export const firstOf = async <Row>(rows: Promise<Row[]>): Promise<Row | undefined> => (await rows)[0];

/** Returns the row of a statement that always returns one. */
export async function onlyOf<Row>(rows: Promise<Row[]>): Promise<Row> {
  const row = await firstOf(rows);
  if (row === undefined) throw new Error("a statement that returns a row returned none");
  return row;
}

/** Returns how many rows there are. */
export const countOf = async (rows: Promise<unknown[]>): Promise<number> => (await rows).length;

export const isFound = async (rows: Promise<unknown[]>): Promise<boolean> => (await rows).length > 0;
