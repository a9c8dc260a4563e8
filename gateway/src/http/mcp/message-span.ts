import { AppError } from "@brand-records/errors";
import { ATTRIBUTES, startSpan } from "@brand-records/telemetry";
import type { RequestContext } from "../request-context.ts";

/**
 * Runs the work of a message in a span of its own, because the request's span only knows the path. Of what the client sent it holds the
 * names of methods and tools that exist.
 */
export async function inMessageSpan<T>(context: RequestContext, work: () => Promise<T>): Promise<T> {
  const { rpc, traceparent } = context;
  const span = startSpan(rpc?.method ?? "other", traceparent, {
    kind: "server",
    attributes: { [ATTRIBUTES.mcpMethod]: rpc?.method ?? "other" },
  });
  if (span === undefined) return work();
  context.traceparent = span.traceparent;
  try {
    return await work();
  } catch (error) {
    span.fail(AppError.from(error).kind);
    throw error;
  } finally {
    const tool = rpc?.tool;
    if (tool !== undefined) {
      span.rename(`tools/call ${tool}`);
      span.set({ [ATTRIBUTES.genAiOperation]: "execute_tool", [ATTRIBUTES.genAiTool]: tool });
    }
    if (context.errorKind !== undefined) span.fail("tool_error");
    span.end();
    context.traceparent = traceparent;
  }
}
