import type { Command, Option } from "commander";

/** A command as a shell completes it. */
export interface CompletedCommand {
  /** Words after `brandctl`, with a space before each: "" for brandctl itself, " brands create". */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly subcommands: readonly CompletedCommand[];
  readonly options: readonly CompletedOption[];
  /** What to offer for its arguments, in order. */
  readonly argumentValues: readonly CompletedValue[];
}

export interface CompletedOption {
  /** `--tier` */
  readonly flag: string;
  readonly summary: string;
  /** Undefined for a flag without a value. */
  readonly value: CompletedValue | undefined;
}

/** What may stand there: one of some words, a file, a directory, or something no shell can guess. */
export type CompletedValue =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "file" }
  | { readonly kind: "directory" }
  | { readonly kind: "free" };

/** The command tree, read from the commands themselves: completion cannot fall behind them. */
export function commandTree(command: Command, path = "", inherited: readonly Option[] = []): CompletedCommand {
  const options = [...command.options, ...inherited];
  return {
    path,
    name: command.name(),
    summary: command.summary() || firstSentence(command.description()),
    subcommands: command.commands.map((child) => commandTree(child, `${path} ${child.name()}`, options)),
    options: [...options.flatMap((option) => completedOption(option)), { flag: "--help", summary: "show help", value: undefined }],
    argumentValues: command.registeredArguments.map((argument) => valueOf(argument.name(), argument.argChoices)),
  };
}

/** Every command below and including this one. */
export function allCommands(command: CompletedCommand): CompletedCommand[] {
  return [command, ...command.subcommands.flatMap(allCommands)];
}

function completedOption(option: Option): CompletedOption[] {
  if (option.long == null || option.hidden) return [];
  const takesValue = option.required || option.optional;
  const placeholder = /<([a-z]+)/.exec(option.flags)?.[1] ?? "";
  return [
    {
      flag: option.long,
      summary: firstSentence(option.description),
      value: takesValue ? valueOf(placeholder, option.argChoices) : undefined,
    },
  ];
}

function valueOf(name: string, choices: readonly string[] | undefined): CompletedValue {
  if (choices !== undefined) return { kind: "words", words: choices };
  if (name === "file") return { kind: "file" };
  return name === "directory" ? { kind: "directory" } : { kind: "free" };
}

function firstSentence(text: string): string {
  return (text.split(/[.;](?:\s|$)|\n/)[0] ?? "").trim();
}
