import { AppError } from "@brand-records/errors";
import { ImportServiceService, type ImportRecordsResponse } from "@brand-records/proto/records/v1";
import { connectRpc } from "@brand-records/rpc";
import { FakeImports, importService } from "../../test/fake-imports.ts";
import { proxyTo, serve, type Served } from "../../test/serve.ts";
import { ImportBroken, importRecords, type ImportTarget } from "./import-records.ts";

const target: ImportTarget = { brandId: "brd_1", resource: "deposits", skipBad: false };

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

describe("importRecords", () => {
  const open: { stop(): void | Promise<void> }[] = [];
  const own = <T extends { stop(): void | Promise<void> }>(thing: T): T => {
    open.push(thing);
    return thing;
  };
  afterEach(async () => {
    for (const thing of open.splice(0).toReversed()) await thing.stop();
  });

  const clientOf = ({ address }: Served) => own(connectRpc(ImportServiceService, address));

  it("imports all lines, and reports the service's progress", async () => {
    const imports = new FakeImports();
    const client = clientOf(own(await serve(imports.served)));
    const progress: number[] = [];
    const lines = Array.from({ length: 1_200 }, (_, i) => deposit(`dep_${i}`));
    const result = await importRecords(client, target, lines, (at) => progress.push(at.lines));
    expect(result).toEqual({ summary: { lines: 1_200, inserted: 1_200, updated: 0, unchanged: 0, bad: 0, committed: true }, problems: [] });
    expect(imports.starts).toEqual([{ brand_id: "brd_1", resource: "deposits", skip_bad: false }]);
    expect(imports.records.size).toBe(1_200);
    expect(imports.chunks.map((chunk) => chunk.length)).toEqual([500, 500, 200]);
    expect(progress).toEqual([500, 1_000, 1_200]);
  });

  it("fills chunks up to a mebibyte, and sends a larger line alone", async () => {
    const imports = new FakeImports();
    const client = clientOf(own(await serve(imports.served)));
    const wide = "é".repeat(200_000);
    await importRecords(client, target, [wide, wide, wide, "x".repeat(1024 * 1024), "y"]);
    expect(imports.chunks.map((chunk) => chunk.length)).toEqual([2, 1, 1, 1]);
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
    const client = clientOf(own(await serve(importService(slowly))));
    const text = "x".repeat(20_000);
    function* lines(): Generator<string> {
      for (; pulled < 1_500; pulled += 1) yield text;
    }
    await importRecords(client, target, lines());
    expect(taken).toBe(1_500);
    // About twenty chunks of a mebibyte are in flight, 900 lines, of 30 MB in all.
    expect(furthestAhead).toBeLessThan(1_200);
  });

  it("counts a line that cannot be sent as bad, with the reason, and numbers the others correctly", async () => {
    const imports = new FakeImports();
    const client = clientOf(own(await serve(imports.served)));
    const lines = [
      deposit("dep_1"),
      { unreadable: "is not valid UTF-8" },
      "",
      deposit("dep_4", { method: "cash" }),
      "x".repeat(1024 * 1024 + 1),
    ];
    const { summary, problems } = await importRecords(client, { ...target, skipBad: true }, lines);
    expect(summary).toMatchObject({ lines: 5, bad: 3, inserted: 1, committed: true });
    expect(problems).toEqual([
      { line: 2, message: "is not valid UTF-8" },
      { line: 4, field: "method", message: expect.stringContaining("must be one of") },
      { line: 5, message: "is longer than 1 MiB" },
    ]);
  });

  it("imports nothing without skipBad when a line cannot be sent", async () => {
    const imports = new FakeImports();
    const client = clientOf(own(await serve(imports.served)));
    const { summary } = await importRecords(client, target, [deposit("dep_1"), { unreadable: "is not valid UTF-8" }]);
    expect(summary).toMatchObject({ lines: 2, bad: 1, inserted: 0, committed: false });
    expect(imports.records.size).toBe(0);
  });

  it("commits nothing when reading the input fails, and throws the input's error", async () => {
    const imports = new FakeImports();
    const served = own(await serve(imports.served));
    const client = clientOf(served);
    async function* torn(): AsyncGenerator<string> {
      yield deposit("dep_1");
      throw new Error("the disk is gone");
    }
    await expect(importRecords(client, target, torn())).rejects.toThrow("the disk is gone");
    await served.stop();
    expect(imports.records.size).toBe(0);
  });

  it("throws a refusal of the service, stating that nothing was imported", async () => {
    // eslint-disable-next-line require-yield -- it refuses before it yields
    async function* refuse(): AsyncGenerator<ImportRecordsResponse> {
      throw new AppError("invalid_request", "brand_id must be a brand's id", { field: "brand_id" });
    }
    const client = clientOf(own(await serve(importService(refuse))));
    const error = await brokenBy(importRecords(client, target, [deposit("dep_1")]));
    expect(error.nothingImported).toBe(true);
    expect(error.reason).toMatchObject({ kind: "invalid_request", field: "brand_id" });
    expect(error.message).toBe("brand_id must be a brand's id. Nothing was imported.");
  });

  it("says that nothing was imported when the connection breaks before the commit", async () => {
    const imports = new FakeImports();
    const proxy = own(await proxyTo(own(await serve(imports.served)).address));
    const client = clientOf(proxy);
    async function* endless(): AsyncGenerator<string> {
      for (let i = 0; ; i += 1) yield deposit(`dep_${i}`);
    }
    const error = await brokenBy(importRecords(client, target, endless(), () => proxy.cut()));
    expect(error.nothingImported).toBe(true);
    expect(error.reason.kind).toBe("unavailable");
    expect(imports.records.size).toBe(0);
  });

  it("leaves the outcome open when the connection breaks after the commit", async () => {
    let proxy: Awaited<ReturnType<typeof proxyTo>> | undefined;
    async function* commitAndVanish(requests: AsyncIterable<unknown>): AsyncGenerator<ImportRecordsResponse> {
      for await (const _ of requests) void _;
      proxy?.cut();
      yield summary();
    }
    proxy = own(await proxyTo(own(await serve(importService(commitAndVanish))).address));
    const error = await brokenBy(importRecords(clientOf(proxy), target, [deposit("dep_1")]));
    expect(error.nothingImported).toBe(false);
    expect(error.message).toContain("Run it again");
  });

  it("fails when the service ends without a summary", async () => {
    // eslint-disable-next-line require-yield -- it never yields
    async function* silent(requests: AsyncIterable<unknown>): AsyncGenerator<ImportRecordsResponse> {
      for await (const _ of requests) void _;
    }
    const client = clientOf(own(await serve(importService(silent))));
    expect((await brokenBy(importRecords(client, target, []))).nothingImported).toBe(false);
  });

  it("can be cancelled while it waits for input", async () => {
    const imports = new FakeImports();
    const served = own(await serve(imports.served));
    const client = clientOf(served);
    const stop = new AbortController();
    async function* stuck(): AsyncGenerator<string> {
      for (let i = 0; i < 600; i += 1) yield deposit(`dep_${i}`);
      await new Promise(() => undefined);
    }
    const broken = brokenBy(importRecords(client, { ...target, signal: stop.signal }, stuck(), () => stop.abort()));
    expect(await broken).toMatchObject({ nothingImported: true, reason: { kind: "request_timeout" } });
    await served.stop();
    expect(imports.records.size).toBe(0);
    expect(imports.cancelled).toEqual([500]);
  });

  it("can be cancelled while the service does not read", async () => {
    const blocked = new AbortController();
    async function* stuck(requests: AsyncIterable<unknown>): AsyncGenerator<ImportRecordsResponse> {
      await requests[Symbol.asyncIterator]().next();
      yield { progress: { lines: 0 } };
      await new Promise((resolve) => blocked.signal.addEventListener("abort", resolve));
    }
    const client = clientOf(own(await serve(importService(stuck))));
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

  it("does not start when it is cancelled before", async () => {
    const imports = new FakeImports();
    const client = clientOf(own(await serve(imports.served)));
    const broken = brokenBy(importRecords(client, { ...target, signal: AbortSignal.abort() }, [deposit("dep_1")]));
    expect((await broken).nothingImported).toBe(true);
    expect(imports.records.size).toBe(0);
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
