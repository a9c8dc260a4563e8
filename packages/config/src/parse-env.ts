import type { z } from "zod";

/** The environment is invalid. `problems` has one line per setting, which names it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Invalid settings:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/**
 * Parses settings, reports every problem in one error, and freezes the result. An empty variable counts as unset, as `NAME= command`
 * and an empty Helm value mean it.
 *
 * @param hints what to do if a required setting is not set, by name
 * @throws ConfigError
 */
export function parseEnv<Shape extends z.ZodType>(
  shape: Shape,
  env: NodeJS.ProcessEnv,
  hints: Readonly<Record<string, string>> = {},
): Readonly<z.output<Shape>> {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  const parsed = shape.safeParse(set);
  if (parsed.success) return Object.freeze(parsed.data);
  throw new ConfigError(
    parsed.error.issues.map((issue) => {
      const name = issue.path.join(".");
      // A check of ours may require a setting because of another one, and its message says so.
      if (name in set || issue.code === "custom") return `${name}: ${issue.message}`;
      return `${name}: is not set${hints[name] === undefined ? "" : `. ${hints[name]}`}`;
    }),
  );
}
