import { allCommands, type CompletedCommand, type CompletedValue } from "./command-tree.ts";

/**
 * Returns a zsh completion script, to be sourced or put into a folder of $fpath as _brandctl. The script finds the command that
 * the words before the cursor name (`at`) and counts its arguments (`given`). Then it offers values for the option before the
 * cursor, else values for the next argument, else options or subcommands.
 */
export function zshCompletion(root: CompletedCommand): string {
  const commands = allCommands(root);
  const allSubcommands = commands.filter(({ path }) => path !== "");
  const flagsWithValue = [...new Set(commands.flatMap(({ options }) => options.filter(({ value }) => value).map(({ flag }) => flag)))];
  return `#compdef brandctl
# Completion of brandctl for zsh. Put into ~/.zshrc, after compinit:  source <(brandctl completion zsh)
_brandctl() {
  local at="" first="" word i
  local -i given=0
  local -a commands options
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "$word" in
      ${flagsWithValue.join("|")}) ((i++)); continue ;;
      -?*) continue ;;
    esac
    case "$at $word" in
      ${allSubcommands.map(({ path }) => quoted(path)).join("|")}) at="$at $word" ;;
      *) ((given++ == 0)) && first="$word" ;;
    esac
  done
  case "$at:\${words[CURRENT-1]}" in
${commands.flatMap(optionCases).join("\n")}
  esac
  case "$at" in
${commands.map(commandCase).join("\n")}
  esac
  if [[ "\${words[CURRENT]}" == -* || \${#commands} -eq 0 ]]; then
    _describe option options
  else
    _describe command commands
  fi
}
if [[ "\${funcstack[1]}" == _brandctl ]]; then
  _brandctl "$@"
else
  compdef _brandctl brandctl
fi
`;
}

function optionCases({ path, options }: CompletedCommand): string[] {
  return options.flatMap(({ flag, value }) =>
    value === undefined ? [] : [`    ${quoted(`${path}:${flag}`)}) ${offer(value)}; return ;;`],
  );
}

function commandCase({ path, subcommands, options, argumentValues }: CompletedCommand): string {
  const described = (items: readonly (readonly [name: string, summary: string])[]): string =>
    items.map(([name, summary]) => quoted(`${name}:${summary}`)).join(" ");
  const values = argumentValues.map((value, index) => `${index}) ${offer(value)}; return ;;`).join(" ");
  const argumentsCase = values === "" ? "" : `\n      if [[ "\${words[CURRENT]}" != -* ]]; then case $given in ${values} esac; fi`;
  return `    ${quoted(path)})
      commands=(${described(subcommands.map(({ name, summary }) => [name, summary]))})
      options=(${described(options.map(({ flag, summary }) => [flag, summary]))})${argumentsCase} ;;`;
}

function offer(value: CompletedValue): string {
  switch (value.kind) {
    case "words":
      return `compadd -- ${value.words.map(quoted).join(" ")}`;
    case "list":
      // The items before the last comma stay; no space follows, as another comma may.
      return `compset -P '*,'; compadd -S '' -- ${value.words.map(quoted).join(" ")}`;
    case "dependent":
      return `case "$first" in ${[...value.wordsBy].map(([first, words]) => `${first}) ${offer({ kind: "words", words })} ;;`).join(" ")} esac`;
    case "free":
      return `_message value`;
    default:
      return value.kind === "file" ? "_files" : "_files -/";
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
