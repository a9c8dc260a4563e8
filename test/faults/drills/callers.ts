import type { ConsoleCaller } from "../../console-calls.ts";
import { toolCall } from "../../mcp.ts";
import { planInput } from "../../plan-input.ts";
import type { Stack, TestBrand } from "../../stack.ts";

/** A caller waits no longer for a response: longer than every deadline of ours. */
const GIVES_UP_MS = 25_000;

/** Everything the load does, each with a path of its own through the processes. */
export const CALLS = ["page", "tool", "plan", "keys", "receivers", "change"] as const;
export type Call = (typeof CALLS)[number];

/** What a caller got: `ok`, HTTP status and code of an error, `refused` or `reset` without a response, `nothing` within 25 s. */
export interface Answer {
  readonly call: Call;
  readonly startedAt: number;
  readonly ms: number;
  readonly answer: string;
  /** Seconds; undefined without the header. */
  readonly retryAfter: number | undefined;
}

type Answered = Pick<Answer, "answer" | "retryAfter">;

export interface Callers {
  readonly stack: Stack;
  readonly brand: TestBrand;
  readonly person: ConsoleCaller;
}

/** Calls of integrations, assistants and people. None rejects. */
export function callsOf({ stack, brand, person }: Callers): Record<Exclude<Call, "change">, () => Promise<Answered>> {
  const authorization = `Bearer ${brand.key}`;
  const send = (path: string, init: RequestInit = {}): Promise<Answered> =>
    answered(`${stack.url}${path}`, { ...init, headers: { authorization, ...init.headers } });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answered> =>
    send(path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
  const console = (operation: string): Promise<Answered> =>
    post(`/console/api/${operation}`, { brand_id: brand.id }, { cookie: person.cookie, "sec-fetch-site": "same-origin" });
  return {
    page: () => send("/api/v1/submissions?limit=5"),
    tool: () => {
      const { headers, body } = toolCall("stateless", "list_links", { limit: 5 });
      return post("/api/mcp", body, headers);
    },
    plan: () => post("/api/v1/campaign-plans", planInput()),
    keys: () => console("keys.list"),
    receivers: () => console("receivers.list"),
  };
}

async function answered(url: string, init: RequestInit): Promise<Answered> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(GIVES_UP_MS) });
    const body = (await response.json()) as { error?: { code: unknown; data?: { code?: string } } };
    const code = body.error === undefined ? undefined : (body.error.data?.code ?? String(body.error.code));
    const retryAfter = response.headers.get("retry-after");
    return {
      answer: response.ok && code === undefined ? "ok" : `${response.status} ${code}`,
      retryAfter: retryAfter === null ? undefined : Number(retryAfter),
    };
  } catch (error) {
    return { answer: failureOf(error as Error), retryAfter: undefined };
  }
}

function failureOf(error: Error): string {
  if (error.name === "TimeoutError") return "nothing";
  const { code = error.message } = (error.cause ?? error) as { code?: string };
  if (code === "ECONNREFUSED") return "refused";
  return code === "ECONNRESET" || code === "UND_ERR_SOCKET" ? "reset" : code;
}
