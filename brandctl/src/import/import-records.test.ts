import { AppError } from "@brand-records/errors";
import { ImportServiceService, type ImportRecordsResponse } from "@brand-records/proto/records/v1";
import { connectRpc, service, type Handlers } from "@brand-records/rpc";
import { startTcpProxy, type TcpProxy } from "@brand-records/testkit";
import { startProduct } from "../../test/product.ts";
import { serve } from "../../test/serve.ts";
import { ImportBroken, importRecords, type ImportTarget } from "./import-records.ts";

const deposit = (id: string, more: object = {}): string =>
  JSON.stringify({
    id,
    created_at: "2026-11-21T08:30:00.000Z",
    updated_at: "2026-11-21T08:30:00.000Z",
    status: "pending",
    amount_centavos: 100,
    refunded_centavos: 0,
    currency: "PHP",
    method: "gcash",
    ...more,
  });

const summary = (more: object = {}): ImportRecordsResponse => ({
  summary: { lines: 0, inserted: 0, updated: 0, unchanged: 0, bad: 0, committed: true, ...more },
});

type Import = Handlers<ImportServiceService>["importRecords"];

describe("importRecords", () => {
  const product = startProduct();
  const open: { stop(): void | Promise<void> }[] = [];
  const own = <T extends { stop(): void | Promise<void> }>(thing: T): T => {
    open.push(thing);
    return thing;
  };
  afterEach(async () => {
    for (const thing of open.splice(0).toReversed()) await thing.stop();
  });

  const connect = (address: string) => own(connectRpc(ImportServiceService, address));
  /** Serves imports as a test needs them, and returns a client. */
  const clientOf = async (importRecords: Import) => connect(own(await serve(service(ImportServiceService, { importRecords }))).address);
  const proxyTo = async (address: string): Promise<TcpProxy> => {
    const [host = "", port] = address.split(":");
    return own(await startTcpProxy({ host, port: Number(port) }));
  };
  /** The records service's deposits of the test's brand. */
  const stored = () => product.db.query("select id from records.deposits where brand_id = $1", [target.brandId]);
  let target: ImportTarget;
  beforeEach(async () => {
    target = { brandId: (await product.createBrand()).id, resource: "deposits", skipBad: false };
  });

  it("imports all lines, and reports the service's progress", async () => {
    const progress: number[] = [];
    const lines = Array.from({ length: 1_200 }, (_, i) => deposit(`dep_${i}`));
    const result = await importRecords(connect(product.recordsAddress), target, lines, (at) => progress.push(at.lines));
    expect(result).toEqual({ summary: { lines: 1_200, inserted: 1_200, updated: 0, unchanged: 0, bad: 0, committed: true }, problems: [] });
    expect(await stored()).toHaveLength(1_200);
    expect(progress.at(-1)).toBe(1_200);
  });

  it.each([
    ["500 lines", Array.from({ length: 1_200 }, () => "{}"), [500, 500, 200]],
    [
      "a mebibyte, and sends a larger line alone",
      [..."é".repeat(3)].map((one) => one.repeat(200_000)).concat("x".repeat(1024 * 1024), "y"),
      [2, 1, 1, 1],
    ],
  ])("fills chunks up to %s", async (_, lines, lengths) => {
    const chunks: number[] = [];
    const client = await clientOf(async function* (requests) {
      for await (const { chunk } of requests) if (chunk != null) chunks.push(chunk.lines.length);
      yield summary();
    });
    await importRecords(client, target, lines);
    expect(chunks).toEqual(lengths);
  });

  it("reads lines no faster than the service takes them", async () => {
    let pulled = 0;
    let taken = 0;
    let furthestAhead = 0;
    async function* slowly(
      requests: AsyncIterable<{ chunk?: { lines: string[] } | null | undefined }>,
    ): AsyncGenerator<ImportRecordsResponse> {
      for await (const { chunk } of requests) {
        taken += chunk?.lines.length ?? 0;
        furthestAhead = Math.max(furthestAhead, pulled - taken);
        await new Promise((resolve) => setImmediate(resolve));
      }
      yield summary();
    }
    const client = await clientOf(slowly);
    const text = "x".repeat(200);
    function* lines(): Generator<string> {
      for (; pulled < 60_000; pulled += 1) yield text;
    }
    await importRecords(client, target, lines());
    expect(taken).toBe(60_000);
    // About 25 chunks of 500 lines are in flight.
    expect(furthestAhead).toBeLessThan(30_000);
  });

  it("counts a line that cannot be sent as bad, with the reason, numbers the others correctly, and imports them with skipBad only", async () => {
    const lines = [
      deposit("dep_1"),
      { unreadable: "is not valid UTF-8" },
      "",
      deposit("dep_4", { method: "cash" }),
      "x".repeat(1024 * 1024 + 1),
    ];
    const client = connect(product.recordsAddress);
    const { summary, problems } = await importRecords(client, target, lines);
    expect(summary).toMatchObject({ lines: 5, bad: 3, inserted: 0, committed: false });
    expect(problems).toEqual([
      { line: 2, message: "is not valid UTF-8" },
      { line: 4, field: "method", message: expect.stringContaining("must be one of") },
      { line: 5, message: "is longer than 1 MiB" },
    ]);
    expect(await stored()).toEqual([]);
    const skipped = await importRecords(client, { ...target, skipBad: true }, lines);
    expect(skipped).toMatchObject({ summary: { lines: 5, bad: 3, inserted: 1, committed: true }, problems });
    expect(await stored()).toEqual([{ id: "dep_1" }]);
  });

  it("commits nothing when reading the input fails, and throws the input's error", async () => {
    async function* torn(): AsyncGenerator<string> {
      yield deposit("dep_1");
      throw new Error("the disk is gone");
    }
    await expect(importRecords(connect(product.recordsAddress), target, torn())).rejects.toThrow("the disk is gone");
    expect(await stored()).toEqual([]);
  });

  it("throws a refusal of the service, stating that nothing was imported", async () => {
    // eslint-disable-next-line require-yield -- it refuses before it yields
    async function* refuse(): AsyncGenerator<ImportRecordsResponse> {
      throw new AppError("invalid_request", "brand_id must be a brand's id", { field: "brand_id" });
    }
    const client = await clientOf(refuse);
    const error = await brokenBy(importRecords(client, target, [deposit("dep_1")]));
    expect(error.nothingImported).toBe(true);
    expect(error.reason).toMatchObject({ kind: "invalid_request", field: "brand_id" });
    expect(error.message).toBe("brand_id must be a brand's id. Nothing was imported.");
  });

  it("says that nothing was imported when the connection breaks before the commit", async () => {
    const proxy = await proxyTo(product.recordsAddress);
    async function* endless(): AsyncGenerator<string> {
      for (let i = 0; ; i += 1) yield deposit(`dep_${i}`);
    }
    const error = await brokenBy(importRecords(connect(`127.0.0.1:${proxy.port}`), target, endless(), () => void proxy.cut()));
    expect(error.nothingImported).toBe(true);
    expect(error.reason.kind).toBe("unavailable");
    expect(await stored()).toEqual([]);
  });

  it("leaves the outcome open when the connection breaks after the commit", async () => {
    let proxy: TcpProxy | undefined;
    async function* commitAndVanish(requests: AsyncIterable<unknown>): AsyncGenerator<ImportRecordsResponse> {
      for await (const _ of requests) void _;
      await proxy?.cut();
      yield summary();
    }
    proxy = await proxyTo(own(await serve(service(ImportServiceService, { importRecords: commitAndVanish }))).address);
    const error = await brokenBy(importRecords(connect(`127.0.0.1:${proxy.port}`), target, [deposit("dep_1")]));
    expect(error.nothingImported).toBe(false);
    expect(error.message).toContain("Run it again");
  });

  it("fails when the service ends without a summary", async () => {
    // eslint-disable-next-line require-yield -- it never yields
    async function* silent(requests: AsyncIterable<unknown>): AsyncGenerator<ImportRecordsResponse> {
      for await (const _ of requests) void _;
    }
    const client = await clientOf(silent);
    expect((await brokenBy(importRecords(client, target, []))).nothingImported).toBe(false);
  });

  it("can be cancelled while the service does not read", async () => {
    const blocked = new AbortController();
    async function* stuck(requests: AsyncIterable<unknown>): AsyncGenerator<ImportRecordsResponse> {
      await requests[Symbol.asyncIterator]().next();
      yield { progress: { lines: 0 } };
      await new Promise((resolve) => blocked.signal.addEventListener("abort", resolve));
    }
    const client = await clientOf(stuck);
    const stop = new AbortController();
    let pulled = 0;
    function* lines(): Generator<string> {
      for (;;) {
        pulled += 1;
        yield "x".repeat(100_000);
      }
    }
    const importing = brokenBy(importRecords(client, { ...target, signal: stop.signal }, lines()));
    for (let before = -1; pulled !== before || pulled === 0; await new Promise((resolve) => setImmediate(resolve))) before = pulled;
    stop.abort();
    expect(await importing).toMatchObject({ nothingImported: true, reason: { kind: "request_timeout" } });
    blocked.abort();
  });
});

async function brokenBy(importing: Promise<unknown>): Promise<ImportBroken> {
  const error: unknown = await importing.then(
    () => new Error("the import did not fail"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ImportBroken) return error;
  throw error;
}
