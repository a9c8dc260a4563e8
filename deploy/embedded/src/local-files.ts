import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root: this file is deploy/embedded/dist/local-files.js. */
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** What the run leaves behind, all below one git-ignored folder. */
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

/** Answers undefined if there is no such file, or it was cut by a crash. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Replaces the file as a whole; readable by its owner alone, because it holds keys. */
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

/** Made once; without them the keys of an earlier run would be worth nothing. One that an earlier release did not know is added. */
export function loadSecrets(files: LocalFiles): Secrets {
  const existing = readJson(files.secrets) as Partial<Secrets> | undefined;
  const fresh = { postgresPassword: randomBytes(24).toString("hex"), keyPeppers: newKey(), receiverSecretKeys: newKey() };
  const secrets = { ...fresh, ...existing };
  writeJson(files.secrets, secrets);
  return secrets;
}

const newKey = (): string => `1:${randomBytes(32).toString("base64")}`;
