import { allCommands, type CompletedCommand, type CompletedValue } from "./command-tree.ts";

/** Returns a bash completion script: it finds the command that the words name, then offers what may follow. */
export function bashCompletion(root: CompletedCommand): string {
  const { name } = root;
  const commands = allCommands(root);
  const allSubcommands = commands.filter(({ path }) => path !== "");
  const flagsWithValue = [...new Set(commands.flatMap(({ options }) => options.filter(({ value }) => value).map(({ flag }) => flag)))];
  return `# Completion of ${name} for bash. Put into ~/.bashrc:  source <(${name} completion bash)
_${name}() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at="" given=0 first="" i word
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$word" in
      ${flagsWithValue.join("|")}) ((i++)); continue ;;
      -?*) continue ;;
    esac
    case "$at $word" in
      ${allSubcommands.map(({ path }) => `"${path}"`).join("|")}) at="$at $word" ;;
      *) ((given++ == 0)) && first="$word" ;;
    esac
  done
  case "$at:$prev" in
${commands.flatMap(optionCases).join("\n")}
  esac
  case "$at" in
${commands.map(commandCase).join("\n")}
  esac
}
complete -F _${name} ${name}
`;
}

function optionCases({ path, options }: CompletedCommand): string[] {
  return options.flatMap(({ flag, value }) => (value === undefined ? [] : [`    "${path}:${flag}") ${offer(value)}; return ;;`]));
}

function commandCase({ path, subcommands, options, argumentValues }: CompletedCommand): string {
  const flags = offer({ kind: "words", words: options.map(({ flag }) => flag) });
  if (subcommands.length > 0) {
    const names = offer({ kind: "words", words: subcommands.map(({ name }) => name) });
    return `    "${path}") if [[ $cur == -* ]]; then ${flags}; else ${names}; fi ;;`;
  }
  const values = argumentValues.map((value, index) => `${index}) ${offer(value)} ;;`).join(" ");
  return `    "${path}") if [[ $cur == -* ]]; then ${flags}; else case "$given" in ${values} *) ${flags} ;; esac; fi ;;`;
}

function offer(value: CompletedValue): string {
  switch (value.kind) {
    case "words":
      return `COMPREPLY=($(compgen -W "${value.words.join(" ")}" -- "$cur"))`;
    case "list":
      // The items before the last comma stay; no space follows, as another comma may.
      return `compopt -o nospace; COMPREPLY=($(compgen -P "\${cur%"\${cur##*,}"}" -W "${value.words.join(" ")}" -- "\${cur##*,}"))`;
    case "dependent":
      return `case "$first" in ${[...value.wordsBy].map(([first, words]) => `${first}) ${offer({ kind: "words", words })} ;;`).join(" ")} esac`;
    case "free":
      return ":";
    default:
      return `compopt -o filenames; COMPREPLY=($(compgen -${value.kind === "file" ? "f" : "d"} -- "$cur"))`;
  }
}
