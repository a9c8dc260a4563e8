import { allCommands, type CompletedCommand, type CompletedValue } from "./command-tree.ts";

/**
 * Returns a zsh completion script, to be sourced or put into a folder of $fpath as `_` and the program's name. The script finds the command that
 * the words before the cursor name (`at`) and counts its arguments (`given`). Then it offers values for the option before the
 * cursor, else values for the next argument, else options or subcommands.
 */
export function zshCompletion(root: CompletedCommand): string {
  const { name } = root;
  const commands = allCommands(root);
  const allSubcommands = commands.filter(({ path }) => path !== "");
  const flagsWithValue = [...new Set(commands.flatMap(({ options }) => options.filter(({ value }) => value).map(({ flag }) => flag)))];
  return `#compdef ${name}
# Completion of ${name} for zsh. Put into ~/.zshrc, after compinit:  source <(${name} completion zsh)
_${name}() {
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
if [[ "\${funcstack[1]}" == _${name} ]]; then
  _${name} "$@"
else
  compdef _${name} ${name}
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
