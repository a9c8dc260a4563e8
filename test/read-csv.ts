/** Reads RFC 4180 with line feeds. Like other readers, takes a carriage return outside quotes for no part of a cell. */
export function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain = "", end = ""] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\n)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\n") rows.push(row.splice(0));
  }
  return rows;
}
