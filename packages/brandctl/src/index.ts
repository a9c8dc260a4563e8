export { ImportBroken, importRecords, type ImportResult, type ImportTarget } from "./import/import-records.ts";
export type { InputLine, UnreadableLine } from "./import/read-lines.ts";
