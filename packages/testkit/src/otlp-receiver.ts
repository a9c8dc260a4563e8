import { createServer, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty at the root. */
  readonly parentSpanId: string;
  readonly name: string;
  /** Kind in OTLP: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly isError: boolean;
}

export interface OtlpReceiver {
  /** Settings of a process that exports every span here as soon as it ends. */
  readonly env: Readonly<Record<string, string>>;
  /** Sorted by arrival. */
  readonly spans: readonly ReceivedSpan[];
  /** Everything received, as text. */
  text(): string;
  stop(): Promise<void>;
}

interface OtlpSpan extends Omit<ReceivedSpan, "service" | "attributes" | "links" | "isError" | "parentSpanId"> {
  readonly parentSpanId?: string;
  readonly attributes?: readonly OtlpAttribute[];
  readonly links?: ReceivedSpan["links"];
  readonly status?: { readonly code?: number };
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** Receives traces by OTLP over HTTP, as JSON. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    readBody(request).then(
      (body) => {
        bodies.push(body);
        if (request.url === "/v1/traces") spans.push(...spansIn(JSON.parse(body) as OtlpTraces));
        response.writeHead(200, { "content-type": "application/json" }).end("{}");
      },
      () => response.destroy(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "50",
    },
    spans,
    text: () => bodies.join("\n"),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function spansIn({ resourceSpans }: OtlpTraces): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(objectFrom(resource.attributes)["service.name"]);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ parentSpanId = "", attributes = [], links = [], status, ...span }) => ({
        ...span,
        service,
        parentSpanId,
        attributes: objectFrom(attributes),
        links,
        isError: status?.code === 2,
      })),
    );
  });
}

function objectFrom(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
