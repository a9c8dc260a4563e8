import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { embeddedDataDir } from "@brand-records/postgres/embedded";

/** The repository's root: this file is deploy/embedded/dist/local-files.js. */
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The files of a run, all in one git-ignored folder. */
export interface LocalFiles {
  readonly directory: string;
  readonly run: string;
  readonly demoBrands: string;
  readonly secrets: string;
  readonly lock: string;
  readonly logs: string;
  readonly database: string;
}

export function localFiles(directory: string = join(ROOT, ".local")): LocalFiles {
  return {
    directory,
    run: join(directory, "run.json"),
    demoBrands: join(directory, "demo-brands.json"),
    secrets: join(directory, "secrets.json"),
    lock: join(directory, "launcher.json"),
    logs: join(directory, "logs"),
    database: join(directory, "postgres"),
  };
}

/** The files of the run with the database of a cell. */
export const cellFiles = (files: LocalFiles, cell: string): LocalFiles => ({ ...files, database: `${files.database}-${cell}` });

/** The cells with a name: as many as are asked for, and those of earlier runs. */
export const cellsOf = (files: LocalFiles, count: number): string[] =>
  ["b", "c", "d", "e"].filter((cell, index) => index + 1 < count || existsSync(embeddedDataDir(cellFiles(files, cell).database)));

/** The files of `npm run observe` beside a run: its own folder, and its own lock. */
export function observeFiles(files: LocalFiles): LocalFiles {
  const directory = join(files.directory, "observe");
  return { ...files, directory, lock: join(directory, "observe.json") };
}

/** Returns undefined if the file does not exist or is not JSON because a crash cut it. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Replaces the whole file. Only its owner can read it, because it holds keys. */
export function writeJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.draft`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

export interface Secrets {
  readonly postgresPassword: string;
  readonly keyPeppers: string;
  readonly receiverSecretKeys: string;
}

/** Loads the secrets, and creates missing ones. They must outlive a run: without them earlier keys cannot be verified. */
export function loadSecrets(files: LocalFiles): Secrets {
  const stored = readJson(files.secrets) as Partial<Secrets> | undefined;
  const fresh = { postgresPassword: randomBytes(24).toString("hex"), keyPeppers: newKey(), receiverSecretKeys: newKey() };
  const secrets = { ...fresh, ...stored };
  writeJson(files.secrets, secrets);
  return secrets;
}

const newKey = (): string => `1:${randomBytes(32).toString("base64")}`;
