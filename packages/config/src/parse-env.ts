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
 * @param cures what to do about a setting that is needed and not set, by its name
 * @throws ConfigError
 */
export function parseEnv<Shape extends z.ZodType>(
  shape: Shape,
  env: NodeJS.ProcessEnv,
  cures: Readonly<Record<string, string>> = {},
): Readonly<z.output<Shape>> {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  const parsed = shape.safeParse(set);
  if (parsed.success) return Object.freeze(parsed.data);
  throw new ConfigError(
    parsed.error.issues.map((issue) => {
      const name = issue.path.join(".");
      // What we check ourselves may miss a setting for a reason of its own, and says it.
      if (name in set || issue.code === "custom") return `${name}: ${issue.message}`;
      return `${name}: is not set${cures[name] === undefined ? "" : `. ${cures[name]}`}`;
    }),
  );
}
