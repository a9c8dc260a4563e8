export { colorsFor, type Colors, type Screen } from "./colors.ts";
export { errorCode, errorReason } from "./error-reason.ts";
export { ago, clockTime, counted, pesos, shortTime, timeWithSeconds } from "./format.ts";
export { printable, printableLines, shortened, widthOf, wrapped } from "./printable.ts";
export { openProgressBar, type ProgressBar, type ProgressScreen } from "./progress-bar.ts";
export { DETAIL_COLUMNS_MAX, factLines, table, TABLE_COLUMNS_MAX, type Column, type Detail, type Fact } from "./table.ts";
