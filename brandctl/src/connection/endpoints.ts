import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { recordsCells } from "@brand-records/config";
import { isAlive } from "@brand-records/lifecycle";
import { CommandFailure } from "../failure.ts";

export const SERVICE_NAMES = ["accounts", "plans", "records", "webhook"] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];
export type EndpointName = ServiceName | "base_url";

export interface Endpoint {
  readonly name: EndpointName;
  readonly address: string;
  /** Source of the address: a flag, a setting or a file. */
  readonly from: string;
}

/** Options of every command, by their names as commander has them: `baseUrl` for `--base-url`. */
export type GlobalOptions = Readonly<Record<string, string | undefined>>;

export interface TlsFiles {
  readonly RPC_TLS_CERT?: string;
  readonly RPC_TLS_KEY?: string;
  readonly RPC_TLS_CA?: string;
}

const SOURCES = {
  accounts: { flag: "--accounts-address", setting: "ACCOUNTS_ADDRESS" },
  plans: { flag: "--plans-address", setting: "PLANS_ADDRESS" },
  records: { flag: "--records-address", setting: "RECORDS_ADDRESS" },
  webhook: { flag: "--webhook-address", setting: "WEBHOOK_ADDRESS" },
  base_url: { flag: "--base-url", setting: "BASE_URL" },
} as const;

const TLS_FILES = { RPC_TLS_CERT: "--tls-cert", RPC_TLS_KEY: "--tls-key", RPC_TLS_CA: "--tls-ca" } as const;

/** Finds addresses: a flag wins over a setting, a setting over the run file. Empty ones are ignored. */
export class Endpoints {
  readonly #options: GlobalOptions;
  readonly #env: NodeJS.ProcessEnv;
  readonly #cwd: string;
  #runFile: { readonly found: RunFile | undefined } | undefined;

  constructor(options: GlobalOptions, env: NodeJS.ProcessEnv, cwd: string) {
    this.#options = options;
    this.#env = env;
    this.#cwd = cwd;
  }

  find(name: EndpointName): Endpoint | undefined {
    const { flag, setting } = SOURCES[name];
    const given = this.#option(flag);
    if (given) return { name, address: given, from: flag };
    const set = this.#env[setting];
    if (set) return { name, address: set, from: setting };
    const file = this.runFile();
    const address = name === "base_url" ? file?.baseUrl : file?.rpc[name];
    return file === undefined || address === undefined ? undefined : { name, address, from: file.path };
  }

  /** @throws CommandFailure if the address is not known */
  get(name: ServiceName): Endpoint {
    const endpoint = this.find(name);
    if (endpoint !== undefined) return endpoint;
    const { flag, setting } = SOURCES[name];
    throw new CommandFailure(
      "unknown_address",
      `The address of ${name} is not known: no ${flag}, no ${setting}, ${this.runFileProblem()}.`,
      {
        hint: `Run npm start (it writes ${RUN_FILE}) and call brandctl from inside the repository, or set ${setting}=host:port.`,
      },
    );
  }

  /** records in the cells that have a name. @throws CommandFailure for a malformed setting */
  cells(): ReadonlyMap<string, Endpoint> {
    const { data: set, error } = recordsCells.safeParse(this.#env["RECORDS_CELLS"]);
    if (set === undefined) throw new CommandFailure("invalid_settings", `RECORDS_CELLS: ${error.issues[0]?.message}.`);
    const file = this.#env["RECORDS_CELLS"] ? undefined : this.runFile();
    const from = file?.path ?? "RECORDS_CELLS";
    return new Map(Object.entries(file?.cells ?? set).map(([cell, address]) => [cell, { name: "records", address, from }]));
  }

  /** records in the brand's cell. @throws CommandFailure if its address is not known */
  recordsIn(cell: string | null | undefined): Endpoint {
    const endpoint = cell == null ? this.get("records") : this.cells().get(cell);
    if (endpoint !== undefined) return endpoint;
    throw new CommandFailure("unknown_address", `The address of records in the cell ${cell} is not known: RECORDS_CELLS lacks it.`);
  }

  /** The run file, unless its run has ended. */
  runFile(): RunFile | undefined {
    const found = this.#findRunFile();
    return found?.ended === true ? undefined : found;
  }

  /** Why the run file does not have an address, to end a list of places without it. */
  runFileProblem(): string {
    const found = this.#findRunFile();
    if (found === undefined) return `no ${RUN_FILE} from here upwards`;
    if (found.ended) return `${found.path} is left from a run that was killed`;
    // A release without this service wrote the file.
    return `nothing in ${found.path}`;
  }

  #findRunFile(): RunFile | undefined {
    this.#runFile ??= { found: findRunFile(this.#cwd, this.#env["LOCAL_DIR"]) };
    return this.#runFile.found;
  }

  /** @throws CommandFailure when one of the files cannot be read */
  tls(): TlsFiles {
    const found = Object.entries(TLS_FILES).map(([setting, flag]) => [setting, this.#option(flag) ?? this.#env[setting]] as const);
    const given = found.filter((entry): entry is [string, string] => Boolean(entry[1]));
    for (const [, file] of given) requireReadable(file);
    return Object.fromEntries(given);
  }

  #option(flag: string): string | undefined {
    return this.#options[flag.slice("--".length).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
  }
}

function requireReadable(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new CommandFailure("invalid_settings", `The TLS file ${file} cannot be read.`, {
      cause: error,
      hint: "See RPC_TLS_CERT, RPC_TLS_KEY, RPC_TLS_CA, or --tls-cert, --tls-key, --tls-ca.",
    });
  }
}

/** The part that brandctl reads of what `npm start` writes about its processes. */
export interface RunFile {
  readonly path: string;
  /** The launcher was killed before it could remove the file: its content is stale. */
  readonly ended: boolean;
  readonly baseUrl: string | undefined;
  /** gRPC addresses by service. */
  readonly rpc: Readonly<Record<string, string>>;
  /** gRPC addresses of records, and databases, by cell. */
  readonly cells: Readonly<Record<string, string>>;
  readonly cellDatabases: Readonly<Record<string, string>>;
  /** Addresses for probes and metrics by process. */
  readonly admin: Readonly<Record<string, string>>;
  /** A login with the role `platform`. */
  readonly platformDatabaseUrl: string | undefined;
}

export const RUN_FILE = join(".local", "run.json");

/** Finds the run file: in `localDir` if that is set, else the nearest `.local/run.json` from `folder` upwards. */
function findRunFile(folder: string, localDir: string | undefined): RunFile | undefined {
  if (localDir) {
    const path = resolve(folder, localDir, "run.json");
    return existsSync(path) ? readRunFile(path) : undefined;
  }
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, RUN_FILE);
    if (existsSync(path)) return readRunFile(path);
    if (dirname(at) === at) return undefined;
  }
}

/** @throws CommandFailure if the file is not a JSON object */
function readRunFile(path: string): RunFile {
  const invalid = (problem: string, cause?: unknown): CommandFailure =>
    new CommandFailure("invalid_run_file", `${path} ${problem}.`, { cause, hint: "npm start writes it: start it again." });
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw invalid("cannot be read as JSON", error);
  }
  if (!isObject(content)) throw invalid("does not hold a JSON object");
  const { launcher, base_url, rpc, cells, cell_databases, admin, platform_database_url } = content;
  return {
    path,
    ended: hasEnded(launcher),
    baseUrl: textOf(base_url),
    rpc: addresses(rpc),
    cells: addresses(cells),
    cellDatabases: addresses(cell_databases),
    admin: addresses(admin),
    platformDatabaseUrl: textOf(platform_database_url),
  };
}

/** False for a file without a launcher, such as one made by hand. */
function hasEnded(launcher: unknown): boolean {
  if (!isObject(launcher) || typeof launcher["pid"] !== "number") return false;
  return !isAlive({ pid: launcher["pid"], startedAt: textOf(launcher["startedAt"]) });
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

function addresses(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
