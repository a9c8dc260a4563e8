import type { z } from "zod";

/** The environment is invalid. `problems` has one line per problem, which begins with the setting's name. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Invalid settings:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/**
 * Parses settings, reports every problem in one error, and freezes the result. An empty variable counts as unset: this is what
 * `NAME= command` and an empty Helm value mean.
 *
 * @param hints by name of a required setting: what to do if it is not set
 * @throws ConfigError
 */
export function parseEnv<Shape extends z.ZodType>(
  shape: Shape,
  env: NodeJS.ProcessEnv,
  hints: Readonly<Record<string, string>> = {},
): Readonly<z.output<Shape>> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  const parsed = shape.safeParse(given);
  if (parsed.success) return Object.freeze(parsed.data);
  throw new ConfigError(
    parsed.error.issues.map((issue) => {
      const name = issue.path.join(".");
      // A `custom` check of ours may require a setting because of another one. Its message gives that reason.
      if (name in given || issue.code === "custom") return `${name}: ${issue.message}`;
      return `${name}: is not set${hints[name] === undefined ? "" : `. ${hints[name]}`}`;
    }),
  );
}
