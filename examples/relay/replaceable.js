import { readFileSync } from "node:fs";

/** A setting that cannot be used: the message names it, and never repeats its value. */
export class SettingProblem extends Error {}

/**
 * Returns a function for a value in the variable `name`, or in the file that `name`_FILE names. The file is read at every use:
 * a rotation needs no restart, whether the file is rewritten, renamed or reached by a link that changes. A watcher would miss
 * one of these.
 *
 * @template T
 * @param {NodeJS.ProcessEnv} env
 * @param {string} name
 * @param {(text: string) => T} parse throws an error that follows the name: "must be …"
 * @returns {() => T} throws SettingProblem
 * @throws {SettingProblem} also if the value is invalid now
 */
export function replaceable(env, name, parse) {
  const [value, path] = [env[name] || undefined, env[`${name}_FILE`] || undefined];
  if ((value === undefined) === (path === undefined)) throw new SettingProblem(`${name} must be set, or ${name}_FILE, and not both`);
  const read = () =>
    path === undefined ? parsed(name, value ?? "", parse) : parsed(`the file of ${name}_FILE`, contentOf(name, path), parse);
  read();
  return read;
}

/**
 * @template T
 * @param {string} source
 * @param {string} text
 * @param {(text: string) => T} parse
 */
function parsed(source, text, parse) {
  try {
    return parse(text);
  } catch (error) {
    throw new SettingProblem(`${source} ${error instanceof Error ? error.message : "is invalid"}`, { cause: error });
  }
}

/**
 * @param {string} name
 * @param {string} path
 */
function contentOf(name, path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new SettingProblem(`${name}_FILE cannot be read: ${reason}`, { cause: error });
  }
}
