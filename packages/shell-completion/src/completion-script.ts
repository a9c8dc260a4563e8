import type { Command } from "commander";
import { bashCompletion } from "./bash.ts";
import { commandTree } from "./command-tree.ts";
import { fishCompletion } from "./fish.ts";
import { zshCompletion } from "./zsh.ts";

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

export type CompletedShell = keyof typeof SCRIPTS;
export const COMPLETED_SHELLS = Object.freeze(Object.keys(SCRIPTS) as CompletedShell[]);

/**
 * Returns a script with which a shell completes a program's commands, options and their values. The script does not start the program.
 *
 * @param root the program; its name is the word that is completed
 */
export function completionScript(shell: CompletedShell, root: Command): string {
  return SCRIPTS[shell](commandTree(root));
}
