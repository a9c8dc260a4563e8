import { parseTracing } from "@brand-records/config";
import { OWN_ATTRIBUTES, startRootSpan, startSpan, startTracing } from "@brand-records/telemetry";
import type { Terminal } from "../terminal.ts";
import type { StatusChange } from "./change-status.ts";

/**
 * Makes a change in a span of its own, as a traced platform would, if OTEL_EXPORTER_OTLP_ENDPOINT is set: the event's way to its
 * receivers becomes part of its trace. Such a change is always sampled; a given trace context decides for itself.
 */
export async function inChangeSpan<T>(
  { env, stderr }: Terminal,
  change: StatusChange,
  make: (change: StatusChange) => Promise<T>,
): Promise<T> {
  const warn = (fields: object, message: string): void => void stderr.write(`${message}: ${JSON.stringify(fields)}\n`);
  const tracing = await startTracing({ service: "brandctl", config: parseTracing(env), log: { warn } });
  const name = `${change.kind} ${change.status}`;
  const options = {
    kind: "internal",
    attributes: change.brandId === undefined ? {} : { [OWN_ATTRIBUTES.brandId]: change.brandId },
  } as const;
  const span = change.traceparent === undefined ? startRootSpan(name, options) : startSpan(name, change.traceparent, options);
  try {
    if (span === undefined) return await make(change);
    return await span.run(() => make({ ...change, traceparent: span.traceparent }));
  } catch (error) {
    span?.fail(error instanceof Error ? error.name : "error");
    throw error;
  } finally {
    span?.end();
    await tracing.stop();
  }
}
