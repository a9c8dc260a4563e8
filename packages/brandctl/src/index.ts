export { ImportBroken, importRecords, type ImportResult, type ImportTarget } from "./importing/import-records.ts";
export type { InputLine, UnreadableLine } from "./importing/read-lines.ts";
