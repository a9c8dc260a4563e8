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
