import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { ROOT } from "../program.ts";

/** A checkout of the product, with its compiled programs. */
export interface Build {
  /** Distinguishes the builds of one run: also names its database and its logs. */
  readonly name: "this" | "other";
  readonly folder: string;
}

export const PROGRAMS = ["records", "webhook"] as const;
export type ProgramName = (typeof PROGRAMS)[number];

export const scriptOf = ({ folder }: Build, program: ProgramName): string => join(folder, "services", program, "dist/main.js");

export const migrationsOf = ({ folder }: Build, program: ProgramName): string => join(folder, "services", program, "migrations");

/**
 * Finds the programs of a checkout; without a folder those of this one.
 *
 * @throws if the checkout is not built
 */
export function findBuild(name: Build["name"], folder: unknown): Build {
  const build = { name, folder: typeof folder === "string" && folder !== "" ? resolve(folder) : ROOT };
  const missing = PROGRAMS.flatMap((program) => [scriptOf(build, program), migrationsOf(build, program)]).filter(
    (path) => !existsSync(path),
  );
  if (missing.length > 0)
    throw new Error(`${basename(build.folder)} is no built checkout: run npm ci and npm run build there. It lacks ${missing[0]}`);
  return build;
}
