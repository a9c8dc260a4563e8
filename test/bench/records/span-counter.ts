import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Receives traces by OTLP over HTTP as protobuf, at /VARIANT/v1/traces, and counts the spans of each variant: enough to see that they
 * arrive, and that as many were sampled as should be. A process of its own, whose CPU time is not the product's.
 */
const counts: Record<string, number> = {};

const server = createServer((request, response) => {
  const [, variant = ""] = (request.url ?? "").split("/");
  void readBody(request).then((body) => {
    counts[variant] = (counts[variant] ?? 0) + countSpans(body);
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
});
server.listen(0, "127.0.0.1", () => process.send?.({ ready: { port: (server.address() as AddressInfo).port } }));
process.on("message", () => process.send?.(counts));
for (const end of ["SIGTERM", "disconnect"]) process.on(end, () => process.exit());

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** ExportTraceServiceRequest.resource_spans, ResourceSpans.scope_spans and ScopeSpans.spans. */
const PATH_TO_SPANS = [1, 2, 2];
const LENGTH_DELIMITED = 2;

function countSpans(message: Buffer, depth = 0): number {
  let spans = 0;
  for (let at = 0; at < message.length;) {
    const [tag, afterTag] = readVarint(message, at);
    const [value, afterValue] = readVarint(message, afterTag);
    // The messages on the path have fields with a length only.
    if ((tag & 7) !== LENGTH_DELIMITED) throw new Error(`unexpected field ${tag} in OTLP`);
    at = afterValue + value;
    if (tag >> 3 !== PATH_TO_SPANS[depth]) continue;
    spans += depth === PATH_TO_SPANS.length - 1 ? 1 : countSpans(message.subarray(afterValue, at), depth + 1);
  }
  return spans;
}

/** Returns the number and the position after it. */
function readVarint(bytes: Buffer, start: number): [number, number] {
  let [value, at] = [0, start];
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++] ?? 0;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return [value, at];
  }
}
