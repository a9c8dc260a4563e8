export { allCommands, commandTree, type CompletedCommand } from "./command-tree.ts";
export { DependentArgument, ListOption } from "./completed-inputs.ts";
export { COMPLETED_SHELLS, completionScript, type CompletedShell } from "./completion-script.ts";
