import { execFile } from "node:child_process";
import { join } from "node:path";
import { PYTHON_ENVIRONMENT, runInPython } from "../python-client.ts";

/** A program that gets an Ask as its argument, does it with its client, and prints an Output on one line. */
export interface Driver {
  readonly name: string;
  readonly argv: readonly string[];
  /** What its client has no option or no words for. */
  readonly lacks: readonly Ability[];
}

/** Options of a client, and what it says of an error. */
export type Ability = "keys" | "expect_brand" | "limit" | "sync" | "attempts" | "status";

export interface Ask {
  readonly action: "list" | "prepare" | "verify" | "sync";
  readonly url: string;
  /** More than one: the client's key function returns the next at each call, the last again and again. */
  readonly keys: readonly string[];
  readonly expect_brand?: string;
  readonly timeout_ms?: number;
  readonly deadline_ms?: number;
  readonly resource?: string;
  readonly filters?: Readonly<Record<string, string>>;
  readonly limit?: number;
  readonly plan?: Readonly<Record<string, unknown>>;
  /** File of the copy that `sync` keeps. */
  readonly db?: string;
  readonly body_base64?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly secrets?: readonly string[];
  /** Unix time in seconds. */
  readonly now?: number;
}

export interface Output {
  /** Ids of the records that were read, in order, also before an error. */
  readonly ids: readonly string[];
  readonly plan_id?: string;
  readonly event_id?: string;
  readonly error: null | {
    readonly code: string;
    readonly status?: number;
    readonly attempts?: number;
    readonly field?: string;
    readonly request_id?: string;
    readonly plan_request_id?: string;
    readonly retry_after?: number;
    readonly message: string;
  };
  readonly retries: readonly { readonly delay_ms: number; readonly attempts: number }[];
}

const PROGRAMS = join(process.cwd(), "test/clients/behaviour/drivers");

export const DRIVERS: readonly Driver[] = [
  { name: "TypeScript", argv: [process.execPath, join(PROGRAMS, "client.mjs")], lacks: [] },
  { name: "Python", argv: ["python3", PYTHON_ENVIRONMENT, "python", join(PROGRAMS, "client.py")], lacks: [] },
  {
    name: "command line",
    argv: [process.execPath, join(PROGRAMS, "command-line.mjs")],
    lacks: ["expect_brand", "limit", "attempts", "status"],
  },
];

/** Makes what drivers run in, which their own environment lets them not: it lacks the registry's settings. At most 10 minutes, once. */
export async function prepareDrivers(): Promise<void> {
  await runInPython("python", ["--version"]);
}
export const PREPARE_MS_MAX = 600_000;

const RUN_MS_MAX = 100_000;

export function drive({ argv: [command = "", ...args] }: Driver, ask: Ask): Promise<Output> {
  const options = { env: { PATH: process.env["PATH"], HOME: process.env["HOME"] }, timeout: RUN_MS_MAX, maxBuffer: 16 * 1024 * 1024 };
  return new Promise((resolve, reject) => {
    execFile(command, [...args, JSON.stringify(ask)], options, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout) as Output);
      else reject(new Error(`the driver failed (${error.code ?? error.signal}):\n${stdout}\n${stderr}`));
    });
  });
}
