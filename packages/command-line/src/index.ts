export { CommandFailure, exitCodeOf, Interrupted, UsageFailure } from "./command-failure.ts";
export { CommandLineError, usageFailure } from "./command-line-error.ts";
export { CommandOutput } from "./command-output.ts";
export { configureCommands } from "./configure-commands.ts";
export { runAsProcess } from "./run-as-process.ts";
export { writeToReader } from "./write-to-reader.ts";
