import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startOtlpReceiver, type OtlpReceiver } from "@brand-records/testkit";
import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import { ATTRIBUTES, requestIdAttribute } from "./attributes.ts";
import { isChosen, traceFields, traceparentFrom } from "./trace-context.ts";
import { startBatchSpan, startEdgeSpan, startRootSpan, startSpan } from "./span.ts";
import { startTracing } from "./start-tracing.ts";

const COMPILED = pathToFileURL(join(import.meta.dirname, "../../dist/index.js")).href;

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SAMPLED = `00-${TRACE}-b7ad6b7169203331-01`;
const UNSAMPLED = `00-${TRACE}-b7ad6b7169203331-00`;

it.each(Object.values(ATTRIBUTES))("%s is an attribute of the semantic conventions", (name) => {
  expect(Object.values(conventions)).toContain(name);
});

it("names the trace in a log line as OpenTelemetry does", () => {
  expect(traceFields(SAMPLED)).toEqual({ trace_id: TRACE, span_id: "b7ad6b7169203331", trace_flags: "01" });
});

it.each([undefined, "", "x", `${SAMPLED}-`, SAMPLED.toUpperCase(), `00-${"0".repeat(32)}-b7ad6b7169203331-01`, `ff${SAMPLED.slice(2)}`])(
  "begins a new trace, not sampled, in place of the trace context %p",
  (given) => {
    expect(traceparentFrom(given)).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-00$/);
  },
);

describe("while tracing is off", () => {
  it("starts no span, whatever the caller wants", async () => {
    const tracing = await startTracing({ service: "test", config: { OTEL_TRACES_SAMPLER_ARG: 1 }, log: { warn() {} } });
    expect(startEdgeSpan("GET", SAMPLED, { kind: "server" })).toEqual({ traceparent: UNSAMPLED, span: undefined });
    expect(startSpan("call", SAMPLED, { kind: "client" })).toBeUndefined();
    expect(startRootSpan("create", { kind: "producer" })).toBeUndefined();
    expect(startBatchSpan("send", [SAMPLED], { kind: "producer" })).toBeUndefined();
    expect(isChosen()).toBe(false);
    await tracing.stop();
  });
});

/** Runs a module that uses `telemetry` in a process of its own, where the SDK is what it is in ours, and returns what it prints. */
async function run(use: string, env: Readonly<Record<string, string>>): Promise<unknown> {
  const main = `import * as telemetry from ${JSON.stringify(COMPILED)}; ${use}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", main], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  expect(await once(child, "close")).toEqual([0, null]);
  return JSON.parse(output) as unknown;
}

const start = (share: number): string => `
  const warnings = [];
  const config = { OTEL_EXPORTER_OTLP_ENDPOINT: process.env.OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: ${share} };
  const log = { warn: (fields, message) => warnings.push([message, fields]) };
  const tracing = await telemetry.startTracing({ service: "test", config, log });`;

it.each([
  ["OTEL_SDK_DISABLED", "true"],
  ["OTEL_TRACES_EXPORTER", "none"],
])("starts no span with %s=%s, though an endpoint is set", async (name, value) => {
  const use = `const config = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_TRACES_SAMPLER_ARG: 1, ${name}: "${value}" };
    const tracing = await telemetry.startTracing({ service: "test", config, log: { warn() {} } });
    const { traceparent, span } = telemetry.startEdgeSpan("GET", undefined, { kind: "server" });
    await tracing.stop();
    console.log(JSON.stringify([traceparent, span ?? null]));`;
  expect(await run(use, { [name]: value })).toEqual([expect.stringMatching(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-00$/), null]);
});

it("names a request in its span only by a UUID: other ids say what their caller likes", () => {
  const id = "4c65099e-0840-4eb2-b716-5f364b8126be";
  expect(requestIdAttribute(id)).toEqual({ "brand_records.request.id": id });
  for (const made of ["maria.santos-0917-555-0199", "", "none", id.toUpperCase(), `${id}x`]) expect(requestIdAttribute(made)).toEqual({});
});

describe("while tracing is on", () => {
  let otlp: OtlpReceiver;
  beforeAll(async () => {
    otlp = await startOtlpReceiver();
  });
  afterAll(() => otlp.stop());

  it.each([
    ["nothing", undefined],
    ["the wish to be sampled", SAMPLED],
    ["the wish not to be sampled", UNSAMPLED],
  ])("samples its share of the requests that arrive with %s", async (_, given) => {
    const made = (await run(
      `${start(0.25)}
      const made = Array.from({ length: 4_000 }, () => telemetry.startEdgeSpan("GET", ${JSON.stringify(given)}, { kind: "server" }));
      console.log(JSON.stringify(made.map(({ traceparent, span }) => [traceparent, span !== undefined])));`,
      otlp.env,
    )) as [string, boolean][];
    const sampled = made.filter(([, isSpan]) => isSpan).length;
    // The bound is over nine standard deviations from the mean.
    expect([sampled > 750, sampled < 1_250]).toEqual([true, true]);
    for (const [traceparent, isSpan] of made) expect(traceparent.slice(-2)).toBe(isSpan ? "01" : "00");
    const traceIds = new Set(made.map(([traceparent]) => traceparent.slice(3, 35)));
    expect(given === undefined ? traceIds.size : [...traceIds]).toEqual(given === undefined ? 4_000 : [TRACE]);
  });

  it("makes statements children of the span whose work they belong to, and of no other", async () => {
    const outside = await run(
      `${start(0)}
      const outside = [telemetry.startChildSpan("SELECT", { kind: "client" })];
      const span = telemetry.startSpan("call", ${JSON.stringify(SAMPLED)}, { kind: "server" });
      await span.run(async () => {
        await new Promise(setImmediate);
        telemetry.startChildSpan("page", { kind: "client" }).end();
      });
      outside.push(telemetry.startChildSpan("SELECT", { kind: "client" }));
      span.end();
      await tracing.stop();
      console.log(JSON.stringify(outside));`,
      otlp.env,
    );
    expect(outside).toEqual([null, null]);
    const [page, call] = otlp.spans.filter(({ traceId, name }) => traceId === TRACE && ["page", "call"].includes(name));
    expect(call).toMatchObject({ service: "test", parentSpanId: "b7ad6b7169203331" });
    expect(page).toMatchObject({ service: "test", parentSpanId: call?.spanId });
  });

  it("links a batch to at most 128 sampled changes", async () => {
    const items = Array.from({ length: 500 }, (_, n) => `00-${(n + 1).toString(16).padStart(32, "0")}-b7ad6b7169203331-01`);
    const none = await run(
      `${start(0)}
      telemetry.startBatchSpan("send", ${JSON.stringify([null, UNSAMPLED, ...items])}, { kind: "producer" }).end();
      const none = telemetry.startBatchSpan("send", ${JSON.stringify([null, UNSAMPLED])}, { kind: "producer" });
      await tracing.stop();
      console.log(JSON.stringify([none]));`,
      otlp.env,
    );
    expect(none).toEqual([null]);
    const [send, ...others] = otlp.spans.filter(({ name }) => name === "send");
    expect([send?.parentSpanId, send?.links.length, others]).toEqual(["", 128, []]);
  });

  it("reports once that traces are not exported, and stops", async () => {
    const env = { ...otlp.env, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_EXPORTER_OTLP_TIMEOUT: "50" };
    const warnings = await run(
      `${start(1)}
      while (warnings.length === 0) {
        telemetry.startRootSpan("work", { kind: "internal" }).end();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      await tracing.stop();
      console.log(JSON.stringify(warnings));`,
      env,
    );
    expect(warnings).toEqual([["traces are not exported", { reason: expect.any(String), suppressed: 0 }]]);
  });
});
