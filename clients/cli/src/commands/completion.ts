import { COMPLETED_SHELLS, completionScript, type CompletedShell } from "@brand-records/shell-completion";
import { Argument, Command } from "commander";
import type { Shell } from "../shell.ts";

const HELP = `
Load it:
  # bash, in ~/.bashrc
  source <(brand-records completion bash)

  # zsh, in ~/.zshrc after compinit
  source <(brand-records completion zsh)

  # fish, in ~/.config/fish/config.fish
  brand-records completion fish | source
`;

export function completionCommand(shell: Shell, root: Command): Command {
  return new Command("completion")
    .summary("print a completion script for a shell")
    .description("Print a script with which the shell completes commands, options and their values.")
    .addArgument(new Argument("<shell>", "the shell").choices(COMPLETED_SHELLS))
    .addHelpText("after", HELP)
    .action((name: CompletedShell, _options: object, command: Command) =>
      shell.act(command, async (session) => {
        const script = completionScript(name, root);
        session.print({ shell: name, script }, () => script.trimEnd());
      }),
    );
}
