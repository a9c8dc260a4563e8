import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { ROOT } from "./program.ts";
import { scriptIn } from "../program-script.ts";

/** A checkout of the product, with its compiled programs. */
export interface Build {
  /** Distinguishes the builds of one run: also names its database and its logs. */
  readonly name: BuildName;
  readonly folder: string;
}

export type BuildName = "this" | "other";

export type ServiceName = "accounts" | "records" | "webhook";
export type ProgramName = "gateway" | ServiceName;

export const scriptOf = ({ folder }: Pick<Build, "folder">, program: ProgramName): string => scriptIn(folder, program);

export const migrationsOf = ({ folder }: Pick<Build, "folder">, service: ServiceName): string =>
  join(folder, "services", service, "migrations");

/**
 * Finds the programs of a checkout; without a folder those of this one.
 *
 * @throws if the checkout is not built
 */
export function findBuild(name: BuildName, folder: unknown, programs: readonly ProgramName[]): Build {
  const build = { name, folder: typeof folder === "string" && folder !== "" ? resolve(folder) : ROOT };
  const needed = programs.flatMap((program) => [
    scriptOf(build, program),
    ...(program === "gateway" ? [] : [migrationsOf(build, program)]),
  ]);
  const missing = needed.filter((path) => !existsSync(path));
  if (missing.length > 0)
    throw new Error(`${basename(build.folder)} is no built checkout: run npm ci and npm run build there. It lacks ${missing[0]}`);
  return build;
}
