export { CommandLineError, usageProblem, type UsageProblem } from "./command-line-error.ts";
export { configureCommands, type CommandScreens } from "./configure-commands.ts";
export { runAsProcess } from "./run-as-process.ts";
