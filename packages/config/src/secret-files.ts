import { readFileSync } from "node:fs";
import { z } from "zod";

/** The parts of a schema's definition that lead to what it wraps: of `optional` and `default`, and of `transform`. */
interface Wrapper {
  readonly innerType?: z.core.$ZodType;
  readonly in?: z.core.$ZodType;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
}

const definitionOf = (schema: z.core.$ZodType): Wrapper => (schema as z.ZodType).def as Wrapper;

/** Whether the metadata of a setting, however it is wrapped, marks it as a secret. */
function isSecret(schema: z.core.$ZodType): boolean {
  const { innerType, in: input } = definitionOf(schema);
  const inner = innerType ?? input;
  return z.globalRegistry.get(schema)?.secret === true || (inner !== undefined && isSecret(inner));
}

/** Names of the settings of an object's schema that hold secrets. */
function secretNames(schema: z.core.$ZodType): string[] {
  const { shape, in: input } = definitionOf(schema);
  if (shape === undefined) return input === undefined ? [] : secretNames(input);
  return Object.keys(shape).filter((name) => isSecret(shape[name] as z.core.$ZodType));
}

export const fileSettingOf = (name: string): string => `${name}_FILE`;

export interface SecretFiles {
  /** Values by the name of the setting. */
  readonly values: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

/** Reads the secrets that `NAME_FILE` names instead of `NAME`. */
export function readSecretFiles(schema: z.core.$ZodType, given: Readonly<Record<string, string | undefined>>): SecretFiles {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  for (const name of secretNames(schema)) {
    const setting = fileSettingOf(name);
    const path = given[setting];
    if (path === undefined) continue;
    try {
      if (given[name] !== undefined) throw new Error(`${name} is set too: set one of them`);
      values[name] = readSecretFile(path);
    } catch (error) {
      problems.push(`${setting}: ${(error as Error).message}`);
    }
  }
  return { values, problems };
}

/**
 * Returns a file's text without its last line break.
 *
 * @throws Error whose message holds neither the text nor the path, which may be the secret itself, given to the wrong setting
 */
export function readSecretFile(path: string): string {
  const text = decode(read(path)).replace(/\r?\n$/, "");
  if (text === "") throw new Error("the file is empty");
  return text;
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`the file cannot be read (${(error as NodeJS.ErrnoException).code ?? "invalid path"})`, { cause: error });
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error("the file is not UTF-8 text", { cause: error });
  }
}
