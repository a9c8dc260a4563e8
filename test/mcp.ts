/** Messages of the assistants' endpoint as bytes on the wire, without any client library. */

export type Generation = "legacy" | "stateless";

export const GENERATIONS: readonly Generation[] = ["legacy", "stateless"];

/** What results of the methods hold; a test looks at those of the method it called. */
export interface McpResult {
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name: string };
  readonly instructions: string;
  readonly tools: readonly { readonly name: string }[];
  readonly resultType: string;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent: { readonly count: number; readonly data: readonly { readonly id: string }[]; readonly next_cursor?: string };
  readonly isError: boolean;
}

export interface McpError {
  readonly code: number;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface McpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** "" when there is none. */
  readonly text: string;
  /** The parsed text: one of result and error is there. */
  readonly body: { readonly jsonrpc: string; readonly id: unknown; readonly result: McpResult; readonly error: McpError };
}

export interface McpMessage {
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

const META = "io.modelcontextprotocol/";

/** A request as a client of that generation sends it once it has begun. */
export function request(generation: Generation, method: string, params: Record<string, unknown> = {}, id: unknown = 1): McpMessage {
  if (generation === "legacy") {
    return { headers: { "mcp-protocol-version": "2025-11-25" }, body: { jsonrpc: "2.0", id, method, params } };
  }
  const meta = { [`${META}protocolVersion`]: "2026-07-28", [`${META}clientCapabilities`]: {}, ...(params["_meta"] as object | undefined) };
  return {
    headers: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof params["name"] === "string" && { "mcp-name": params["name"] }),
    },
    body: { jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } },
  };
}

export const toolCall = (generation: Generation, name: string, args?: unknown, id: unknown = 1): McpMessage =>
  request(generation, "tools/call", { name, ...(args !== undefined && { arguments: args }) }, id);

/** Sends a message, or bytes that are to look like one. */
export async function post(
  url: string,
  key: string | undefined,
  { headers = {}, body }: { headers?: Record<string, string>; body: unknown },
): Promise<McpAnswer> {
  const response = await fetch(`${url}/api/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (text === "" ? undefined : JSON.parse(text)) as McpAnswer["body"],
  };
}

/** The error within a refused tool's result. */
export function refusalOf(answer: McpAnswer): {
  code: string;
  message: string;
  field?: string;
  details?: { field: string; message: string }[];
} {
  const { content, isError, structuredContent } = answer.body.result;
  expect({ status: answer.status, isError, structuredContent }).toEqual({ status: 200, isError: true, structuredContent: undefined });
  expect(content).toEqual([{ type: "text", text: expect.any(String) }]);
  return (JSON.parse(content[0]?.text ?? "") as { error: ReturnType<typeof refusalOf> }).error;
}
