import { Argument, Command } from "commander";
import { bashCompletion } from "../completion/bash.ts";
import { commandTree } from "../completion/command-tree.ts";
import { fishCompletion } from "../completion/fish.ts";
import { zshCompletion } from "../completion/zsh.ts";
import type { Shell } from "../shell.ts";

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

const HELP = `
Load it:
  # bash, in ~/.bashrc
  source <(brandctl completion bash)

  # zsh, in ~/.zshrc after compinit
  source <(brandctl completion zsh)

  # fish, in ~/.config/fish/config.fish
  brandctl completion fish | source

If brandctl is only reachable through npx:  alias brandctl="npx brandctl"
`;

export function completionCommand(shell: Shell, root: Command): Command {
  return new Command("completion")
    .summary("print a completion script for a shell")
    .description("Print a script with which the shell completes commands, options and their values.")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .addHelpText("after", HELP)
    .action((name: keyof typeof SCRIPTS, _options: object, command: Command) =>
      shell.act(command, async (session) => {
        const script = SCRIPTS[name](commandTree(root));
        session.print({ shell: name, script }, () => script.trimEnd());
      }),
    );
}
