import { allCommands, type CompletedCommand, type CompletedOption, type CompletedValue } from "./command-tree.ts";

/** Returns a fish completion script. */
export function fishCompletion(root: CompletedCommand): string {
  const { name } = root;
  const commands = allCommands(root);
  const allSubcommands = commands.filter(({ path }) => path !== "");
  const flagsWithValue = [...new Set(commands.flatMap(({ options }) => options.filter(({ value }) => value).map(({ flag }) => flag)))];
  return `# Completion of ${name} for fish. Load:  ${name} completion fish | source
# The command that the words name, such as " brands create", the number of arguments given, and the first of them.
function __${name}_at
    set -l at ""
    set -l given 0
    set -l first ""
    set -l skip 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $skip -eq 1
            set skip 0
        else if contains -- $word ${flagsWithValue.join(" ")}
            set skip 1
        else if string match -q -- '-?*' $word
            continue
        else if contains -- "$at $word" ${allSubcommands.map(({ path }) => quoted(path)).join(" ")}
            set at "$at $word"
        else
            test $given -eq 0; and set first $word
            set given (math $given + 1)
        end
    end
    echo "$at:$given:$first"
end
function __${name}_in
    string match -q -- "$argv[1]:*" (__${name}_at)
end
function __${name}_argument
    set -l first '*'
    set -q argv[3]; and set first $argv[3]
    string match -q -- "$argv[1]:$argv[2]:$first" (__${name}_at)
end
# The items of a comma-separated list, each after the items that are there already.
function __${name}_list
    set -l before (commandline -ct | string replace -r '^--[a-z-]+=' '' | string match -r '^.*,')
    printf '%s\\n' "$before"$argv
end
complete -c ${name} -f
${commands.flatMap((command) => completions(name, command)).join("\n")}
`;
}

function completions(program: string, { path, subcommands, options, argumentValues }: CompletedCommand): string[] {
  const here = `complete -c ${program} -n ${quoted(`__${program}_in '${path}'`)}`;
  const argument = (at: number, first = ""): string =>
    `complete -c ${program} -n ${quoted(`__${program}_argument '${path}' ${at} ${first}`.trim())}`;
  return [
    ...subcommands.map(({ name, summary }) => `${here} -a ${name} -d ${quoted(summary)}`),
    ...options.map((option) => `${here} ${optionPart(program, option)}`),
    ...argumentValues.flatMap((value, at) => {
      if (value.kind === "dependent") {
        return [...value.wordsBy].map(([first, words]) => `${argument(at, first)} ${offer(program, { kind: "words", words })}`);
      }
      const offered = offer(program, value);
      return offered === "" ? [] : [`${argument(at)} ${offered}`];
    }),
  ];
}

function optionPart(program: string, { flag, summary, value }: CompletedOption): string {
  const parts = [`-l ${flag.slice(2)}`, `-d ${quoted(summary)}`];
  if (value !== undefined) parts.push(`-r ${offer(program, value)}`.trim());
  return parts.join(" ");
}

function offer(program: string, value: CompletedValue): string {
  if (value.kind === "words") return `-a ${quoted(value.words.join(" "))}`;
  if (value.kind === "list") return `-a ${quoted(`(__${program}_list ${value.words.join(" ")})`)}`;
  if (value.kind === "free" || value.kind === "dependent") return "";
  return value.kind === "file" ? "-F" : `-a ${quoted("(__fish_complete_directories)")}`;
}

/** In single quotes, only the quote and the backslash need escaping. */
function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, "\\$&")}'`;
}
