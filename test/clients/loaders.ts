import { readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fieldNames, RESOURCE_NAMES, RESOURCES, type ResourceName } from "@brand-records/resources";
import { PYTHON, pythonPrograms } from "./installed-runtime.ts";
import { PROGRAMS, runTool, type Tool } from "./run-tool.ts";

/** The loaders of examples/, as their READMEs say to run them. */

export interface LoadedRecord {
  readonly id: string;
  readonly created_at: string;
  readonly [field: string]: unknown;
}

export interface Loader {
  /** Adds what was created since the last run to the copy, or takes everything again. */
  run(everything?: boolean): Promise<void>;
  /** The copy of a resource: a destination's rows. */
  copied(resource: ResourceName): Promise<readonly LoadedRecord[]>;
}

export interface Address {
  readonly url: string;
  readonly key: string;
}

/** Makes a loader with an empty copy in a folder of its own. */
export type MakeLoader = (parent: string, address: Address) => Promise<Loader>;

const tool = (command: string): Tool => ({ ...PYTHON, command });

/** The folder of programs of an environment with the packages that a README says to install. */
function programsOf(example: string): Promise<string> {
  return pythonPrograms(readFileSync(`examples/${example}/requirements.txt`, "utf8").trim().split("\n"));
}

interface AirbyteMessage {
  readonly type: string;
  readonly record?: { readonly stream: string; readonly data: LoadedRecord };
  readonly state?: { readonly stream: { readonly stream_descriptor: { readonly name: string } } };
  readonly connectionStatus?: { readonly status: string };
  readonly catalog?: { readonly streams: readonly { readonly name: string; readonly json_schema: object }[] };
}

const MANIFEST = join(process.cwd(), "examples/airbyte/manifest.yaml");
/** Syncs every stream incrementally. */
const CATALOG = readFileSync("examples/airbyte/catalog.json", "utf8");

/** Airbyte's runner of manifests, with a destination that deduplicates by `id`, as Airbyte's do. A run must send no record twice. */
export class AirbyteLoader implements Loader {
  readonly #folder: string;
  readonly #records = new Map<string, Map<string, LoadedRecord>>();
  readonly #states = new Map<string, unknown>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(parent: string, { url, key }: Address): Promise<AirbyteLoader> {
    const folder = await mkdtemp(join(parent, "airbyte-"));
    await writeFile(join(folder, "config.json"), JSON.stringify({ url, api_key: key }));
    return new AirbyteLoader(folder);
  }

  async run(everything = false): Promise<void> {
    if (everything) for (const kept of [this.#records, this.#states]) kept.clear();
    await writeFile(join(this.#folder, "state.json"), JSON.stringify([...this.#states.values()]));
    const catalog = everything ? CATALOG.replaceAll('"sync_mode": "incremental"', '"sync_mode": "full_refresh"') : CATALOG;
    await writeFile(join(this.#folder, "catalog.json"), catalog);
    const sent: string[] = [];
    for (const { record, state } of await this.#messages("read", "--catalog", "catalog.json", "--state", "state.json")) {
      if (record !== undefined) {
        sent.push(record.data.id);
        this.#rows(record.stream).set(record.data.id, record.data);
      }
      if (state !== undefined) this.#states.set(state.stream.stream_descriptor.name, state);
    }
    expect(new Set(sent).size).toBe(sent.length);
  }

  copied(resource: ResourceName): Promise<readonly LoadedRecord[]> {
    // Airbyte's messages leave out null fields.
    const nulls = Object.fromEntries(fieldNames(RESOURCES[resource]).map((name) => [name, null]));
    return Promise.resolve([...this.#rows(resource).values()].map((record) => ({ ...nulls, ...record })));
  }

  /** Whether the URL and the key are right. */
  async check(): Promise<boolean> {
    const { connectionStatus } = (await this.#messages("check")).find(({ type }) => type === "CONNECTION_STATUS") ?? {};
    return connectionStatus?.status === "SUCCEEDED";
  }

  /** The schemas of the streams. */
  async schemas(): Promise<ReadonlyMap<string, object>> {
    const { catalog } = (await this.#messages("discover")).find(({ type }) => type === "CATALOG") ?? {};
    return new Map(catalog?.streams.map(({ name, json_schema }) => [name, json_schema]));
  }

  async #messages(command: string, ...options: readonly string[]): Promise<readonly AirbyteMessage[]> {
    const runner = tool(join(await programsOf("airbyte"), "source-declarative-manifest"));
    const args = [command, "--config", "config.json", "--manifest-path", MANIFEST, ...options];
    const printed = await runTool(runner, args, { cwd: this.#folder });
    return printed.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as AirbyteMessage] : []));
  }

  #rows(stream: string): Map<string, LoadedRecord> {
    const rows = this.#records.get(stream) ?? new Map<string, LoadedRecord>();
    this.#records.set(stream, rows);
    return rows;
  }
}

/** The dlt pipeline, with its DuckDB. */
export class DltLoader implements Loader {
  readonly #folder: string;
  readonly #address: Address;

  private constructor(folder: string, address: Address) {
    this.#folder = folder;
    this.#address = address;
  }

  static async make(parent: string, address: Address): Promise<DltLoader> {
    return new DltLoader(await mkdtemp(join(parent, "dlt-")), address);
  }

  async run(everything = false): Promise<void> {
    const { url, key } = this.#address;
    // dlt keeps its state at home, and in the copy.
    const env = { BRAND_RECORDS_URL: url, BRAND_RECORDS_KEY: key, DLT_DATA_DIR: join(this.#folder, "home") };
    await this.#python([join(process.cwd(), "examples/dlt/pipeline.py"), ...(everything ? ["full"] : [])], env);
  }

  async copied(resource: ResourceName): Promise<readonly LoadedRecord[]> {
    const program = join(PROGRAMS, "read-duckdb.py");
    const printed = await this.#python([program, "copy.duckdb", resource]);
    return printed.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as LoadedRecord]));
  }

  async #python(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    return runTool(tool(join(await programsOf("dlt"), "python")), args, { cwd: this.#folder, env });
  }
}

/** All records of a copy, each resource in the order of its list. */
export async function copyOf(loader: Loader): Promise<Readonly<Record<ResourceName, readonly LoadedRecord[]>>> {
  const copies = RESOURCE_NAMES.map(async (resource) => [resource, (await loader.copied(resource)).toSorted(newestFirst)] as const);
  return Object.fromEntries(await Promise.all(copies)) as unknown as Record<ResourceName, readonly LoadedRecord[]>;
}

const newestFirst = (one: LoadedRecord, other: LoadedRecord): number =>
  `${one.created_at} ${one.id}` < `${other.created_at} ${other.id}` ? 1 : -1;
