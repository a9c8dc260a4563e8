/** Messages of the assistants' endpoint, written without a client library. */

export type Generation = "legacy" | "stateless";

export const GENERATIONS: readonly Generation[] = ["legacy", "stateless"];

/** The fields of all methods' results; each method returns some. */
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

export interface McpResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body. */
  readonly text: string;
  /** The parsed text, with either result or error; undefined if the text is empty. */
  readonly body: { readonly jsonrpc: string; readonly id: unknown; readonly result: McpResult; readonly error: McpError };
}

export interface McpMessage {
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

const META = "io.modelcontextprotocol/";

/** Returns a request as clients of that generation send it after their first message. */
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

/** Sends a message, or invalid bytes in its place. */
export async function post(
  url: string,
  key: string | undefined,
  { headers = {}, body }: { headers?: Record<string, string>; body: unknown },
): Promise<McpResponse> {
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
    body: (text === "" ? undefined : JSON.parse(text)) as McpResponse["body"],
  };
}

/** Returns the error in the result of a refused tool call. */
export function refusalOf(response: McpResponse): {
  code: string;
  message: string;
  field?: string;
  details?: { field: string; message: string }[];
} {
  const { content, isError, structuredContent } = response.body.result;
  expect({ status: response.status, isError, structuredContent }).toEqual({ status: 200, isError: true, structuredContent: undefined });
  expect(content).toEqual([{ type: "text", text: expect.any(String) }]);
  return (JSON.parse(content[0]?.text ?? "") as { error: ReturnType<typeof refusalOf> }).error;
}
