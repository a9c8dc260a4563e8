import { brandId } from "../dataset.ts";
import { CONNECTIONS, PAGE_LIMIT } from "../settings.ts";
import { quantile } from "../statistics.ts";
import { HttpConnection } from "./http-connection.ts";
import type { RunRequest, RunResult, VariantName } from "./messages.ts";
import { Walks, type Visit } from "./walks.ts";

interface Target {
  readonly walks: Walks;
  readonly connections: HttpConnection[];
}

/** Keeps its connections and its walks from one run of a variant to the next, as integrations do. */
export class LoadGenerator {
  readonly #keys: readonly string[];
  readonly #targets = new Map<VariantName, Target>();

  /** @param keys of the brands, by number */
  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  /** @throws Error at the first answer that is not the page asked for */
  async run({ variant, port, seconds }: RunRequest): Promise<RunResult> {
    const { walks, connections } = await this.#targetOf(variant, port);
    const latencies: number[] = [];
    const startedAt = performance.now();
    const endsAt = startedAt + seconds * 1_000;
    await Promise.all(
      connections.map(async (connection) => {
        for (let sentAt = startedAt; sentAt < endsAt;) {
          const visit = walks.next();
          const { status, head, body } = await connection.get(pathOf(variant, visit), `Bearer ${this.#keys[visit.brand]}`);
          const now = performance.now();
          if (status !== 200) throw new Error(`${variant} answered brand ${visit.brand}, page ${visit.page}:\n${head}\n\n${body}`);
          walks.answered(visit, body);
          latencies.push(now - sentAt);
          // Checking the answer counts as thinking time of the client, not as latency.
          sentAt = performance.now();
        }
      }),
    );
    const elapsed = (performance.now() - startedAt) / 1_000;
    const sorted = Float64Array.from(latencies).toSorted();
    return { requests: sorted.length, seconds: elapsed, p50_ms: quantile(sorted, 0.5), p99_ms: quantile(sorted, 0.99) };
  }

  /** Connections the server has closed while they were idle are opened anew, as every HTTP client does it. */
  async #targetOf(variant: VariantName, port: number): Promise<Target> {
    const known = this.#targets.get(variant);
    const open = known?.connections.filter((connection) => connection.isOpen) ?? [];
    const missing = Array.from({ length: CONNECTIONS - open.length }, () => HttpConnection.open(port));
    const target = { walks: known?.walks ?? new Walks(), connections: [...open, ...(await Promise.all(missing))] };
    this.#targets.set(variant, target);
    return target;
  }
}

/** Without authentication the brand has to be named. */
export function pathOf(variant: VariantName, { brand, cursor }: Pick<Visit, "brand" | "cursor">): string {
  const whose = variant === "product" ? "" : `brand_id=${brandId(brand)}&`;
  return `/api/v1/conversions?${whose}limit=${PAGE_LIMIT}${cursor === undefined ? "" : `&cursor=${cursor}`}`;
}
