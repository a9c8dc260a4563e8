import { request as httpRequest, Agent } from "node:http";
import { toolCall } from "../mcp.ts";
import { planInput } from "../plan-input.ts";
import type { Brands, RolledBrand } from "./brands.ts";
import type { Fleet } from "./fleet.ts";

export const REQUEST_KINDS = ["page", "tool call", "plan", "console call", "change"] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** Ten requests in a row. */
const MIX: readonly RequestKind[] = [
  "page",
  "tool call",
  "page",
  "console call",
  "plan",
  "page",
  "tool call",
  "change",
  "page",
  "console call",
];
const TICK_MS = 10;
const REQUEST_MS_MAX = 30_000;

export interface Outcome {
  readonly kind: RequestKind;
  readonly phase: string;
  readonly sentAt: Date;
  readonly ms: number;
  /** Undefined if the request succeeded. */
  readonly failure: string | undefined;
}

/** Sends requests at a constant rate, whatever became of those before, and never retries one. */
export class Traffic {
  readonly #fleet: Fleet;
  readonly #brands: Brands;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #pending = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #sent = 0;
  #consoleCalls = 0;
  readonly outcomes: Outcome[] = [];
  /** What happens now. */
  phase = "before";

  constructor(fleet: Fleet, brands: Brands, perSecond: number) {
    this.#fleet = fleet;
    this.#brands = brands;
    const startedAt = performance.now();
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startedAt) * perSecond) / 1_000);
      while (this.#sent < due) this.#sendNext();
    }, TICK_MS);
  }

  /** Resolves when each request has an outcome. May be called again. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.drained();
    this.#agent.destroy();
  }

  /** Resolves when each request that was sent before has an outcome. */
  async drained(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #sendNext(): void {
    const kind = MIX[this.#sent % MIX.length] ?? "page";
    const brand = this.#brands.all[Math.floor(this.#sent / MIX.length) % this.#brands.all.length] as RolledBrand;
    this.#sent += 1;
    // Release 0.2.0 has no console.
    if (kind === "console call" && brand.cookie === "") return;
    const { phase } = this;
    const sentAt = new Date();
    const startedAt = performance.now();
    const note = (failure: string | undefined): void => {
      this.outcomes.push({ kind, phase, sentAt, failure, ms: performance.now() - startedAt });
    };
    const pending = this.#send(kind, brand).then(note, (error: Error) => note(error.message));
    this.#pending.add(pending);
    void pending.then(() => this.#pending.delete(pending));
  }

  /** Returns the failure, if any. */
  async #send(kind: RequestKind, brand: RolledBrand): Promise<string | undefined> {
    const authorization = `Bearer ${brand.key}`;
    if (kind === "change") {
      await this.#brands.change(brand);
      return undefined;
    }
    if (kind === "page") return expectStatus(200, await this.#call("gateway", "GET", "/api/v1/submissions", { authorization }));
    if (kind === "plan") {
      const answer = await this.#call("gateway", "POST", "/api/v1/campaign-plans", { authorization }, planInput());
      // 200 if the gateway had to repeat the call: the plan was made by the first try, whose answer was lost with its connection.
      return answer.status === 200 ? undefined : expectStatus(201, answer);
    }
    if (kind === "console call") {
      const headers = { cookie: brand.cookie, "sec-fetch-site": "same-origin" };
      const [operation, body] = this.#nextConsoleCall(brand);
      const answer = await this.#call("console", "POST", `/console/api/${operation}`, headers, { brand_id: brand.id, ...body });
      const failure = expectStatus(200, answer);
      return failure && `${operation} ${failure}`;
    }
    const { headers, body } = toolCall("stateless", "list_submissions", {});
    const accept = "application/json, text/event-stream";
    const answer = await this.#call("gateway", "POST", "/api/mcp", { authorization, accept, ...headers }, body);
    return expectStatus(200, answer) ?? (answer.text.includes('"isError":true') ? answer.text.slice(0, 200) : undefined);
  }

  /** Reads of each service that the console calls, and a change, which each repetition makes the same. */
  #nextConsoleCall({ receiverId }: RolledBrand): readonly [operation: string, body: object] {
    const calls = [
      ["keys.list", {}],
      ["receivers.list", {}],
      ["plans.list", {}],
      ["receivers.update", { receiver_id: receiverId, label: "Rolled" }],
      ["audit.list", {}],
    ] as const;
    return calls[this.#consoleCalls++ % calls.length] ?? calls[0];
  }

  #call(
    type: "gateway" | "console",
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ): Promise<{ status: number; text: string }> {
    const origin = this.#fleet.origin(type);
    if (origin === undefined) return Promise.reject(new Error(`no ${type} is ready`));
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        `${origin}${path}`,
        {
          method,
          agent: this.#agent,
          headers: { ...headers, ...(body && { "content-type": "application/json" }) },
          timeout: REQUEST_MS_MAX,
        },
        (response) => {
          let text = "";
          response.on("data", (chunk: Buffer) => (text += chunk.toString()));
          response.on("error", reject);
          response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        },
      );
      request.on("timeout", () => request.destroy(new Error(`no response within ${REQUEST_MS_MAX} ms`)));
      request.on("error", reject);
      request.end(body && JSON.stringify(body));
    });
  }
}

const expectStatus = (expected: number, { status, text }: { status: number; text: string }): string | undefined =>
  status === expected ? undefined : `${status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? text.slice(0, 200)}`;
