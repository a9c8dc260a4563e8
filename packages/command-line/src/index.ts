export { CommandFailure, Interrupted, UsageFailure } from "./command-failure.ts";
export { CommandOutput } from "./command-output.ts";
export {
  choice,
  declareCommand,
  declared,
  declareGroup,
  flag,
  mandatory,
  option,
  withDefault,
  type CommandDeclaration,
  type Declared,
  type MakeCommand,
  type Values,
} from "./declare-command.ts";
export { listenOn, type Listening } from "./listen-on.ts";
export { parsedJson } from "./parsed-json.ts";
export { runAsProcess } from "./run-as-process.ts";
export { buildProgram, runCommandLine, type FailureReport, type ProgramDeclaration } from "./run-command-line.ts";
export { writeToReader } from "./write-to-reader.ts";
export { syncFolder, unwritable } from "./written-files.ts";
export { colorsFor, type ColorName, type Colors, type Screen } from "./terminal/colors.ts";
export { errorCode, errorReason } from "./terminal/error-reason.ts";
export { ago, clockTime, counted, pesos, shortTime, timeWithSeconds } from "./terminal/format.ts";
export { printable, printableLines, shortened, widthOf, wrapped } from "./terminal/printable.ts";
export { openProgressBar, type ProgressBar, type ProgressScreen } from "./terminal/progress-bar.ts";
export { DETAIL_COLUMNS_MAX, factsText, table, TABLE_COLUMNS_MAX, type Column, type Detail, type Fact } from "./terminal/table.ts";
