import { once } from "node:events";
import type { ImportRecordsRequest } from "@brand-records/proto/records/v1";
import { ImportServiceService } from "@brand-records/proto/records/v1";
import { connectRpc, fromServiceError } from "@brand-records/rpc";
import { eventually, startTcpProxy } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { deposit } from "../../test/sample-records.ts";
import { callContext, serveRecords, type ServedRecords } from "../../test/serve-records.ts";

/** More than the pool has connections: if a broken import kept its connection, the last ones could not start. */
const MORE_THAN_CONNECTIONS = 12;

let served: ServedRecords;
let brand: string;
beforeAll(async () => {
  served = await serveRecords();
});
beforeEach(() => {
  brand = newId("brd");
});
afterAll(() => served.stop());

const start = (): ImportRecordsRequest => ({ start: { brand_id: brand, resource: "deposits", skip_bad: false } });
const chunk = (...lines: string[]): ImportRecordsRequest => ({ chunk: { lines } });

/** Starts an import and sends its first line. The service may still be ending those before: it takes four at a time. */
const begin = (importing = served.importing, withinMs?: number) => eventually(() => tryToBegin(importing, withinMs));

async function tryToBegin(importing: typeof served.importing, withinMs: number | undefined) {
  const stream = importing.importRecords(callContext(withinMs));
  const failed = once(stream, "error").then(([error]) => fromServiceError(error as Parameters<typeof fromServiceError>[0]));
  stream.write(start());
  stream.write(chunk(JSON.stringify(deposit())));
  await once(stream, "data");
  return { stream, failed };
}

/** Returns the sessions that are inside an import. */
const importsInProgress = () =>
  served.db.query<{ query: string; wait: string | null }>(
    `select query, wait_event_type as wait from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`,
  );

const nothingImported = async () => {
  expect(await importsInProgress()).toEqual([]);
  expect(await served.list(brand, "deposits")).toEqual([]);
};

describe("an interrupted import imports nothing and releases its connection", () => {
  it("when it is cancelled halfway, any number of times", async () => {
    for (let i = 0; i < MORE_THAN_CONNECTIONS; i += 1) {
      const { stream, failed } = await begin();
      stream.cancel();
      await failed;
    }
    await eventually(nothingImported);
    expect((await served.import(brand, [deposit()], { resource: "deposits" })).summary).toMatchObject({ committed: true });
  });

  it("when the connection is lost", async () => {
    const proxy = await startTcpProxy({ host: "127.0.0.1", port: served.port });
    const importing = connectRpc(ImportServiceService, `127.0.0.1:${proxy.port}`);
    const { failed } = await begin(importing);
    await proxy.cut();
    expect(await failed).toMatchObject({ kind: "unavailable" });
    await eventually(nothingImported);
    importing.stop();
    await proxy.stop();
  });

  it("when the database ends its session: it fails with unavailable immediately, without waiting for more lines", async () => {
    const { failed } = await begin();
    await served.db.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null",
    );
    expect(await failed).toMatchObject({ kind: "unavailable" });
    await eventually(nothingImported);
  });

  it("when its deadline passes", async () => {
    const { failed } = await begin(served.importing, 500);
    expect(await failed).toMatchObject({ kind: "timeout" });
    await eventually(nothingImported);
  });

  it("when the stream ends without a commit message", async () => {
    const { stream, failed } = await begin();
    stream.end();
    expect(await failed).toMatchObject({ kind: "request_timeout" });
    await eventually(nothingImported);
  });

  it("when the client does not read its reports, at the deadline", async () => {
    const { stream, failed } = await begin(served.importing, 5_000);
    stream.pause();
    // Megabytes of problems: more than the buffers hold.
    for (let i = 0; i < 500; i += 1) stream.write(chunk(JSON.stringify({ ["x".repeat(20_000)]: 1 })));
    expect(await importsInProgress()).toHaveLength(1);
    expect(await failed).toMatchObject({ kind: "timeout" });
    await eventually(nothingImported);
  });
});

describe("an import is refused", () => {
  const send = async (...messages: ImportRecordsRequest[]) => {
    const stream = served.importing.importRecords(callContext());
    const failed = once(stream, "error").then(([error]) => fromServiceError(error as Parameters<typeof fromServiceError>[0]));
    for (const message of messages) stream.write(message);
    stream.end();
    stream.resume();
    return failed;
  };

  it.each<[string, ImportRecordsRequest[], string]>([
    ["without a message", [], "start"],
    ["that does not begin with start", [{ chunk: { lines: [] } }], "start"],
    ["for a malformed brand id", [{ start: { brand_id: "brd_'", resource: "deposits", skip_bad: false } }], "brand_id"],
    ["for an unknown resource", [{ start: { brand_id: "brd_1", resource: "constructor", skip_bad: false } }], "resource"],
  ])("%s", async (_, messages, field) => {
    expect(await send(...messages)).toMatchObject({ kind: "invalid_request", field });
  });

  it("that starts twice", async () => {
    expect(await send(start(), chunk(JSON.stringify(deposit())), start())).toMatchObject({ kind: "invalid_request", field: "chunk" });
    await eventually(nothingImported);
  });
});
