import { join } from "node:path";
import { buildLateIndexes, migrate, openPool, type Database } from "@brand-records/postgres";
import {
  ImportServiceService,
  OperatorServiceService,
  RecordsServiceService,
  type ImportProblem,
  type ImportRecordsResponse,
  type ImportSummary,
} from "@brand-records/proto/records/v1";
import { listMethod, type RecordOf, type ResourceName } from "@brand-records/resources";
import { connectRpc, fromServiceError, serveRpc, service, newCallContext, type CallContext, type RpcClient } from "@brand-records/rpc";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { importHandlers } from "../src/rpc/import-records.ts";
import { recordsHandlers } from "../src/rpc/list-records.ts";
import { operatorHandlers } from "../src/rpc/operator.ts";

const MIGRATIONS = join(import.meta.dirname, "../migrations");

export const callContext = (withinMs = 20_000): CallContext => newCallContext(withinMs, "test");

export interface Imported {
  readonly summary: ImportSummary | undefined;
  readonly problems: readonly ImportProblem[];
  /** Lines read, after each chunk. */
  readonly progress: readonly number[];
}

export interface ImportOptions {
  readonly resource: string;
  readonly skipBad?: boolean;
  /** Lines per message. Default: all in one. */
  readonly chunkSize?: number;
}

/** The service over real gRPC, on its own database. */
export interface ServedRecords {
  readonly records: RpcClient<RecordsServiceService>;
  readonly importing: RpcClient<ImportServiceService>;
  readonly operator: RpcClient<OperatorServiceService>;
  readonly db: Database;
  readonly port: number;
  /** The database's URL. */
  readonly url: string;
  /** Imports lines of NDJSON: a string as it is, any other value as JSON. */
  import(brandId: string, lines: readonly unknown[], options: ImportOptions): Promise<Imported>;
  /** Returns a brand's records as served, newest first, at most 200. */
  list<Name extends ResourceName>(brandId: string, resource: Name): Promise<RecordOf<Name>[]>;
  stop(): Promise<void>;
}

/** Connections of the pool, as many as the service has by default. */
export const CONNECTIONS = 10;
/** The limit that the service has. */
const IMPORTS_MAX = 4;

/** Creates a database with the schema and its late indexes. */
export const createRecordsDatabase = (): Promise<TestDatabase> =>
  createDatabase("records_schema", async (url) => {
    const schema = { url, schema: "records", directory: MIGRATIONS };
    await migrate(schema);
    const owner = openPool({ url, applicationName: "records indexes", max: 1 });
    await buildLateIndexes(owner, schema);
    await owner.stop();
  });

export async function serveRecords(): Promise<ServedRecords> {
  const database = await createRecordsDatabase();
  const db = openPool({ url: database.url, applicationName: "records test", max: CONNECTIONS });
  const imports = openPool({ url: database.url, applicationName: "records import", max: IMPORTS_MAX, pipeline: false });
  const server = await serveRpc({
    config: { RPC_HOST: "127.0.0.1", RPC_PORT: 0, RPC_OPERATOR_WITHOUT_TLS: "true" },
    services: [
      service(RecordsServiceService, recordsHandlers(db, CONNECTIONS)),
      service(ImportServiceService, importHandlers(imports, IMPORTS_MAX)),
      service(OperatorServiceService, operatorHandlers(db)),
    ],
    log: openLog("records", "silent"),
    metrics: openMetrics("records"),
  });
  const address = `127.0.0.1:${server.port}`;
  const records = connectRpc(RecordsServiceService, address);
  const importing = connectRpc(ImportServiceService, address);
  const operator = connectRpc(OperatorServiceService, address);
  return {
    records,
    importing,
    operator,
    db,
    port: server.port,
    url: database.url,
    import: (brandId, lines, options) => importLines(importing, brandId, lines, options),
    async list(brandId, resource) {
      const request = { brand_id: brandId, limit: 200 };
      const { data } = await records[listMethod(resource)](request, callContext());
      return data as unknown as RecordOf<typeof resource>[];
    },
    async stop() {
      records.stop();
      importing.stop();
      operator.stop();
      await server.stop();
      await Promise.all([db.stop(), imports.stop()]);
      await database.drop();
    },
  };
}

async function importLines(
  importing: RpcClient<ImportServiceService>,
  brandId: string,
  lines: readonly unknown[],
  { resource, skipBad = false, chunkSize = Math.max(lines.length, 1) }: ImportOptions,
): Promise<Imported> {
  const stream = importing.importRecords(callContext());
  stream.write({ start: { brand_id: brandId, resource, skip_bad: skipBad } });
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  for (let at = 0; at < texts.length; at += chunkSize) stream.write({ chunk: { lines: texts.slice(at, at + chunkSize) } });
  stream.end({ commit: {} });
  const problems: ImportProblem[] = [];
  const progress: number[] = [];
  let summary: ImportSummary | undefined;
  try {
    for await (const response of stream as AsyncIterable<ImportRecordsResponse>) {
      if (response.problem != null) problems.push(response.problem);
      if (response.progress != null) progress.push(response.progress.lines);
      summary = response.summary ?? summary;
    }
  } catch (error) {
    throw fromServiceError(error as Parameters<typeof fromServiceError>[0]);
  }
  return { summary, problems, progress };
}
