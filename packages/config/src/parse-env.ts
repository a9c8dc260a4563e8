import type { z } from "zod";
import { refuseToStart } from "@brand-records/lifecycle";
import { fileSettingOf, readSecretFiles } from "./secret-files.ts";

/** The environment is invalid. `problems` has one line per problem, which begins with the setting's name. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(`Invalid settings:\n${problems.map((problem) => `  ${problem}`).join("\n")}`, options);
    this.problems = problems;
  }
}

/**
 * Parses settings, reports every problem in one error, and freezes the result. An empty variable counts as unset: this is what
 * `NAME= command` and an empty Helm value mean. Of a setting that holds a secret, `NAME_FILE` may name a file with the value.
 *
 * @param hints by name of a required setting: what to do if it is not set
 * @throws ConfigError
 */
export function parseEnv<Shape extends z.ZodType>(
  shape: Shape,
  env: NodeJS.ProcessEnv,
  hints: Readonly<Record<string, string>> = {},
): Readonly<z.output<Shape>> {
  const variables = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  const files = readSecretFiles(shape, variables);
  const given = { ...variables, ...files.values };
  const parsed = shape.safeParse(given);
  if (parsed.success && files.problems.length === 0) return Object.freeze(parsed.data);
  const problems = (parsed.error?.issues ?? []).flatMap((issue) => {
    const name = issue.path.join(".");
    const file = fileSettingOf(name);
    if (name in files.values) return `${file}: ${issue.message}`;
    // A `custom` check of ours may require a setting because of another one. Its message gives that reason.
    if (name in given || issue.code === "custom") return `${name}: ${issue.message}`;
    // The file has a problem, which is reported.
    if (files.problems.some((problem) => problem.startsWith(`${file}: `))) return [];
    return `${name}: is not set${hints[name] === undefined ? "" : `. ${hints[name]}`}`;
  });
  throw new ConfigError([...files.problems, ...problems]);
}

/** Returns the parsed settings of a main module. Prints a ConfigError without a stack, for people, and exits with code 78. */
export function loadConfig<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    refuseToStart(error.message);
  }
}
