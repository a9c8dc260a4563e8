import { COMPLETED_SHELLS, completionScript, type CompletedShell } from "@brand-records/shell-completion";
import { Argument, Command } from "commander";
import type { CommandOutput, CommandScreens } from "./command-output.ts";

/**
 * Returns the command that prints a completion script.
 *
 * @param act runs the command's work
 * @param more help at the end
 */
export function completionCommand(
  program: Command,
  act: (command: Command, work: (output: CommandOutput<CommandScreens>) => Promise<void>) => Promise<void>,
  more = "",
): Command {
  return new Command("completion")
    .summary("print a completion script for a shell")
    .description("Print a script with which the shell completes commands, options and their values.")
    .addArgument(new Argument("<shell>", "the shell").choices(COMPLETED_SHELLS))
    .addHelpText("after", helpFor(program.name()) + more)
    .action((shell: CompletedShell, _options: object, command: Command) =>
      act(command, async (output) => {
        const script = completionScript(shell, program);
        output.print({ shell, script }, () => script.trimEnd());
      }),
    );
}

const helpFor = (name: string): string => `
Load it:
  # bash, in ~/.bashrc
  source <(${name} completion bash)

  # zsh, in ~/.zshrc after compinit
  source <(${name} completion zsh)

  # fish, in ~/.config/fish/config.fish
  ${name} completion fish | source
`;
