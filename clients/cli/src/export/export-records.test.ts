import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { BrandRecords } from "@brand-records/client";
import { openExportFile, partPath } from "./export-file.ts";
import { exportToFile, exportToStream } from "./export-records.ts";
import { statePath, type ExportState } from "./export-state.ts";

/** One promise: an export has each record once, also if it ends between its last page and the end of its files. */

const REQUEST = { url: "https://records.example", resource: "payouts", filters: {}, format: "ndjson" } as const;
const WHOLE = '{"id":"po_3"}\n{"id":"po_2"}\n{"id":"po_1"}\n';

let folder: string;
let out: string;
let requests: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "export-"));
  out = join(folder, "payouts");
  requests = 0;
});
afterEach(() => rm(folder, { recursive: true }));

/** A service with two pages. */
const fetchPage: typeof fetch = async (input) => {
  requests += 1;
  const isLast = new URL(input).searchParams.has("cursor");
  const data = (isLast ? ["po_1"] : ["po_3", "po_2"]).map((id) => ({ id }));
  return Response.json({ resource: "payouts", data, ...(!isLast && { next_cursor: "2" }) }, { headers: { "X-Brand-Id": "brd_1" } });
};

const openClient = (): BrandRecords => new BrandRecords({ url: REQUEST.url, key: "brk_live_x", fetch: fetchPage });

/** @param onRecords called with the number of records that are kept so far */
async function runExport(onRecords: (records: number) => void = () => {}, signal?: AbortSignal): Promise<number> {
  const file = await openExportFile(out, REQUEST, { replace: false, restart: false });
  const bar = { update: (_: number, records: number) => onRecords(records), below() {}, stop() {} };
  try {
    return await exportToFile({ ...REQUEST, client: openClient(), signal: signal ?? new AbortController().signal }, { out, file, bar });
  } finally {
    await file.close();
  }
}

/** Ctrl-C after the last page is kept. */
async function interruptAtEnd(): Promise<void> {
  const controller = new AbortController();
  const ended = runExport((records) => records === 3 && controller.abort(), controller.signal);
  await expect(ended).rejects.toMatchObject({ code: "interrupted" });
  expect(await readFile(partPath(out), "utf8")).toBe(WHOLE);
}

const readState = async (): Promise<ExportState> => JSON.parse(await readFile(statePath(out), "utf8")) as ExportState;

it("that is interrupted after its last page has each record once when it is run again, without another request", async () => {
  await interruptAtEnd();
  expect(await runExport()).toBe(3);
  expect(requests).toBe(2);
  expect(await readFile(out, "utf8")).toBe(WHOLE);
  expect(await readdir(folder)).toEqual(["payouts"]);
});

it("that was killed after its file got its name is complete, and the next run says so", async () => {
  await interruptAtEnd();
  const state = await readState();
  await runExport();
  await writeFile(statePath(out), JSON.stringify(state));
  await expect(runExport()).rejects.toMatchObject({
    code: "file_exists",
    message: expect.stringContaining("is complete already: 3 records of payouts"),
  });
  expect(await readFile(out, "utf8")).toBe(WHOLE);
  expect(await readdir(folder)).toEqual(["payouts"]);
});

describe("standard output", () => {
  const { signal: never } = new AbortController();
  const exportTo = (stream: Writable, signal = never): Promise<number> =>
    exportToStream({ ...REQUEST, client: openClient(), signal }, stream);

  it("that is closed by its reader, as head does, ends the export without an error", async () => {
    const stream = new Writable({
      highWaterMark: 1,
      write: (_chunk, _encoding, done) => setImmediate(done, Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
    });
    stream.on("error", () => {});
    expect(await exportTo(stream)).toBe(0);
    expect(requests).toBe(1);
  });

  it("that nothing reads holds up no interruption", async () => {
    const [controller, reason] = [new AbortController(), new Error("interrupted")];
    const stream = new Writable({ highWaterMark: 1, write: () => controller.abort(reason) });
    await expect(exportTo(stream, controller.signal)).rejects.toBe(reason);
    expect(requests).toBe(1);
  });

  it("that is slow has no more listeners after each page", async () => {
    const stream = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => setImmediate(done) });
    const before = stream.eventNames().map((name) => stream.listenerCount(name));
    expect(await exportTo(stream)).toBe(3);
    expect(stream.eventNames().map((name) => stream.listenerCount(name))).toEqual(before);
  });
});
