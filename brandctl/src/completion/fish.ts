import { allCommands, type CompletedCommand, type CompletedOption, type CompletedValue } from "./command-tree.ts";

/** Returns a fish completion script. */
export function fishCompletion(root: CompletedCommand): string {
  const commands = allCommands(root);
  const allSubcommands = commands.filter(({ path }) => path !== "");
  const flagsWithValue = [...new Set(commands.flatMap(({ options }) => options.filter(({ value }) => value).map(({ flag }) => flag)))];
  return `# Completion of brandctl for fish. Load:  brandctl completion fish | source
# The command that the words name, such as " brands create", the number of arguments given, and the first of them.
function __brandctl_at
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
function __brandctl_in
    string match -q -- "$argv[1]:*" (__brandctl_at)
end
function __brandctl_argument
    set -l first '*'
    set -q argv[3]; and set first $argv[3]
    string match -q -- "$argv[1]:$argv[2]:$first" (__brandctl_at)
end
# The items of a comma-separated list, each after the items that are there already.
function __brandctl_list
    set -l before (commandline -ct | string replace -r '^--[a-z-]+=' '' | string match -r '^.*,')
    printf '%s\\n' "$before"$argv
end
complete -c brandctl -f
${commands.flatMap(completions).join("\n")}
`;
}

function completions({ path, subcommands, options, argumentValues }: CompletedCommand): string[] {
  const here = `complete -c brandctl -n ${quoted(`__brandctl_in '${path}'`)}`;
  const argument = (at: number, first = ""): string =>
    `complete -c brandctl -n ${quoted(`__brandctl_argument '${path}' ${at} ${first}`.trim())}`;
  return [
    ...subcommands.map(({ name, summary }) => `${here} -a ${name} -d ${quoted(summary)}`),
    ...options.map((option) => `${here} ${optionPart(option)}`),
    ...argumentValues.flatMap((value, at) => {
      if (value.kind === "dependent") {
        return [...value.wordsBy].map(([first, words]) => `${argument(at, first)} ${offer({ kind: "words", words })}`);
      }
      const offered = offer(value);
      return offered === "" ? [] : [`${argument(at)} ${offered}`];
    }),
  ];
}

function optionPart({ flag, summary, value }: CompletedOption): string {
  const parts = [`-l ${flag.slice(2)}`, `-d ${quoted(summary)}`];
  if (value !== undefined) parts.push(`-r ${offer(value)}`.trim());
  return parts.join(" ");
}

function offer(value: CompletedValue): string {
  if (value.kind === "words") return `-a ${quoted(value.words.join(" "))}`;
  if (value.kind === "list") return `-a ${quoted(`(__brandctl_list ${value.words.join(" ")})`)}`;
  if (value.kind === "free" || value.kind === "dependent") return "";
  return value.kind === "file" ? "-F" : `-a ${quoted("(__fish_complete_directories)")}`;
}

/** In single quotes, only the quote and the backslash need escaping. */
function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, "\\$&")}'`;
}
