import { request as httpRequest, Agent } from "node:http";
import { toolCall } from "../mcp.ts";
import { planInput } from "../plan-input.ts";
import { WAITING, type Brands, type RolledBrand } from "./brands.ts";
import type { Fleet } from "./fleet.ts";

export const REQUEST_KINDS = ["page", "tool call", "filtered page", "filtered tool", "plan", "console call", "change"] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** Twelve requests in a row. */
const MIX: readonly RequestKind[] = [
  "page",
  "tool call",
  "page",
  "console call",
  "filtered page",
  "plan",
  "page",
  "tool call",
  "filtered tool",
  "change",
  "page",
  "console call",
];
/** Pages of the records that `Brands` keeps pending. */
const FILTERS = { status: WAITING.status, campaign_id: WAITING.campaign_id };
const FILTERED_LIMIT = WAITING.count / 2;
const TICK_MS = 10;
const REQUEST_MS_MAX = 30_000;

export interface Outcome {
  readonly kind: RequestKind;
  readonly phase: string;
  readonly sentAt: Date;
  readonly ms: number;
  /** Undefined if the request succeeded. */
  readonly failure: string | undefined;
  /** Records that the filters of a request should have kept out, or that came twice. */
  readonly wrongRows: number;
}

interface Response {
  readonly status: number;
  readonly text: string;
}

interface Row {
  readonly id: string;
  readonly status: string;
  readonly campaign_id: string;
}

interface Page {
  readonly data: readonly Row[];
  readonly next_cursor?: string;
}

/** A list, or a walk over two pages of it. */
interface Answer {
  readonly failure: string | undefined;
  readonly wrongRows?: number;
}

/** Operations of the console that change something each time. */
const CHANGES: ReadonlySet<string> = new Set(["receivers.update", "members.add"]);

/**
 * Sends requests at a constant rate, whatever became of those before, and never retries one. While `pendingMax` of them have no outcome it
 * leaves out those that are due: otherwise a machine that is busy for a moment would have ever more to do.
 */
export class Traffic {
  readonly #fleet: Fleet;
  readonly #brands: Brands;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #pending = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #sent = 0;
  #leftOut = 0;
  #consoleCalls = 0;
  readonly outcomes: Outcome[] = [];
  /** What happens now. */
  phase = "before";

  constructor(fleet: Fleet, brands: Brands, perSecond: number, pendingMax = Infinity) {
    this.#fleet = fleet;
    this.#brands = brands;
    const startedAt = performance.now();
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startedAt) * perSecond) / 1_000);
      while (this.#sent + this.#leftOut < due) {
        if (this.#pending.size < pendingMax) this.#sendNext();
        else this.#leftOut += 1;
      }
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
    // No one is signed in for a brand that was added later.
    if (kind === "console call" && brand.cookie === "") return;
    const { phase } = this;
    const sentAt = new Date();
    const startedAt = performance.now();
    const note = ({ failure, wrongRows = 0 }: Answer): void => {
      this.outcomes.push({ kind, phase, sentAt, failure, wrongRows, ms: performance.now() - startedAt });
    };
    const pending = this.#answer(kind, brand).then(note, (error: Error) => note({ failure: error.message }));
    this.#pending.add(pending);
    void pending.then(() => this.#pending.delete(pending));
  }

  async #answer(kind: RequestKind, brand: RolledBrand): Promise<Answer> {
    if (kind === "filtered page" || kind === "filtered tool") return this.#walkFiltered(kind, brand);
    return { failure: await this.#send(kind, brand) };
  }

  /** Reads two filtered pages, the second by the cursor of the first. */
  async #walkFiltered(kind: "filtered page" | "filtered tool", brand: RolledBrand): Promise<Answer> {
    const ids: string[] = [];
    let wrongRows = 0;
    let cursor: string | undefined;
    for (let page = 0; page < 2; page += 1) {
      const answer = await this.#filteredPage(kind, brand, { ...FILTERS, limit: String(FILTERED_LIMIT), ...(cursor && { cursor }) });
      const failure = expectStatus(200, answer) ?? (answer.text.includes('"isError":true') ? answer.text.slice(0, 200) : undefined);
      if (failure !== undefined) return { failure, wrongRows };
      const { data, next_cursor } = pageIn(answer.text);
      wrongRows += data.filter((row) => !isKept(row) || ids.includes(row.id)).length;
      ids.push(...data.map(({ id }) => id));
      cursor = next_cursor;
    }
    return { failure: ids.length === 2 * FILTERED_LIMIT ? undefined : `${ids.length} filtered records`, wrongRows };
  }

  #filteredPage(kind: "filtered page" | "filtered tool", brand: RolledBrand, input: Record<string, string>): Promise<Response> {
    const authorization = `Bearer ${brand.key}`;
    if (kind === "filtered page") {
      return this.#call("gateway", "GET", `/api/v1/submissions?${new URLSearchParams(input).toString()}`, { authorization });
    }
    const { headers, body } = toolCall("stateless", "list_submissions", input);
    return this.#call("gateway", "POST", "/api/mcp", { authorization, accept: "application/json, text/event-stream", ...headers }, body);
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
      if (failure === undefined && CHANGES.has(operation)) this.#brands.noteChangeByPerson();
      return failure && `${operation} ${failure}`;
    }
    const { headers, body } = toolCall("stateless", "list_submissions", {});
    const accept = "application/json, text/event-stream";
    const answer = await this.#call("gateway", "POST", "/api/mcp", { authorization, accept, ...headers }, body);
    return expectStatus(200, answer) ?? (answer.text.includes('"isError":true') ? answer.text.slice(0, 200) : undefined);
  }

  /** Reads of each service that the console calls, and changes of two of them. */
  #nextConsoleCall({ receiverId }: RolledBrand): readonly [operation: string, body: object] {
    const name = `Rolled ${this.#consoleCalls}`;
    const calls = [
      ["keys.list", {}],
      ["receivers.list", {}],
      ["plans.list", {}],
      ["receivers.update", { receiver_id: receiverId, label: name }],
      ["members.add", { email: `rolled${this.#consoleCalls}@ulap.example`, role: "member" }],
      ["audit.list", {}],
    ] as const;
    return calls[this.#consoleCalls++ % calls.length] ?? calls[0];
  }

  #call(type: "gateway" | "console", method: string, path: string, headers: Record<string, string>, body?: object): Promise<Response> {
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

const isKept = ({ status, campaign_id }: Row): boolean => status === FILTERS.status && campaign_id === FILTERS.campaign_id;

/** Returns the page in the body of a list or of a tool's result. */
function pageIn(text: string): Page {
  const body = JSON.parse(text) as Page & { readonly result?: { readonly structuredContent: Page } };
  return body.result?.structuredContent ?? body;
}
