export { importRecords } from "./import/import-records.ts";
