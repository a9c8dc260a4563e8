import type { z } from "zod";

/** The environment does not fit. `problems` holds one line per setting, each naming the setting. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The settings do not fit:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/**
 * Reads settings once, reports every problem at once, freezes the result. An empty variable counts as unset, which is
 * what `NAME= command` and an empty Helm value mean.
 *
 * @throws ConfigError
 */
export function parseEnv<Shape extends z.ZodType>(shape: Shape, env: NodeJS.ProcessEnv): Readonly<z.output<Shape>> {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  const parsed = shape.safeParse(set);
  if (parsed.success) return Object.freeze(parsed.data);
  throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
}
