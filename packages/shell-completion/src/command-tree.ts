import type { Argument, Command, Option } from "commander";
import { DependentArgument, ListOption } from "./completed-inputs.ts";

/** A command as a shell completes it. */
export interface CompletedCommand {
  /** The words after the program's name, each after a space: "" for the program itself, " brands create". */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly subcommands: readonly CompletedCommand[];
  readonly options: readonly CompletedOption[];
  /** What to offer for each argument. */
  readonly argumentValues: readonly CompletedValue[];
}

export interface CompletedOption {
  /** `--tier` */
  readonly flag: string;
  readonly summary: string;
  /** Undefined for a flag without a value. */
  readonly value: CompletedValue | undefined;
}

/**
 * What a value may be: one of some words, such words separated by commas, words that depend on the first argument, a file, a
 * directory, or anything else.
 */
export type CompletedValue =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "list"; readonly words: readonly string[] }
  | { readonly kind: "dependent"; readonly wordsBy: ReadonlyMap<string, readonly string[]> }
  | { readonly kind: "file" }
  | { readonly kind: "directory" }
  | { readonly kind: "free" };

/** Reads the command tree from the commands themselves, so completion is always up to date. */
export function commandTree(command: Command, path = "", inherited: readonly Option[] = []): CompletedCommand {
  const options = [...command.options, ...inherited];
  return {
    path,
    name: command.name(),
    summary: command.summary() || firstSentence(command.description()),
    subcommands: command.commands.map((child) => commandTree(child, `${path} ${child.name()}`, options)),
    options: [...options.flatMap((option) => completedOption(option)), { flag: "--help", summary: "show help", value: undefined }],
    argumentValues: command.registeredArguments.map(argumentValue),
  };
}

/** Returns this command and every command below. */
export function allCommands(command: CompletedCommand): CompletedCommand[] {
  return [command, ...command.subcommands.flatMap(allCommands)];
}

function completedOption(option: Option): CompletedOption[] {
  if (option.long == null || option.hidden) return [];
  const takesValue = option.required || option.optional;
  return [
    {
      flag: option.long,
      summary: firstSentence(option.description),
      value: takesValue ? optionValue(option) : undefined,
    },
  ];
}

function optionValue(option: Option): CompletedValue {
  if (option instanceof ListOption) return { kind: "list", words: option.items };
  return valueOf(/<([a-z]+)/.exec(option.flags)?.[1] ?? "", option.argChoices);
}

function argumentValue(argument: Argument): CompletedValue {
  if (argument instanceof DependentArgument) return { kind: "dependent", wordsBy: argument.valuesBy };
  return valueOf(argument.name(), argument.argChoices);
}

function valueOf(name: string, choices: readonly string[] | undefined): CompletedValue {
  if (choices !== undefined) return { kind: "words", words: choices };
  if (name === "file") return { kind: "file" };
  return name === "directory" ? { kind: "directory" } : { kind: "free" };
}

function firstSentence(text: string): string {
  return (text.split(/[.;](?:\s|$)|\n/)[0] ?? "").trim();
}
