import { readFileSync } from "node:fs";
import { ConfigError } from "./parse-env.ts";

/** Reads the file that a setting names. @throws ConfigError that names the file */
export function readFileOf(setting: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError([`${setting}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
}

/** Reads certificates of a setting's file. @throws ConfigError that says what is wrong with the file */
export function readPem(setting: string, path: string): string {
  const text = readFileOf(setting, path).toString("utf8");
  if (!text.includes("-----BEGIN CERTIFICATE-----")) throw new ConfigError([`${setting}: the file holds no certificate in PEM form`]);
  return text;
}
