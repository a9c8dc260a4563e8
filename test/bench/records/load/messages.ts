/** What the benchmark and its load generator say to each other. */

export type VariantName = "single" | "bare" | "product";

export interface RunRequest {
  readonly variant: VariantName;
  readonly port: number;
  readonly seconds: number;
}

export interface RunResult {
  readonly requests: number;
  /** From the first request to the last answer. */
  readonly seconds: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

export type ToLoad = { readonly keys: readonly string[] } | { readonly run: RunRequest };
export type FromLoad = { readonly ready: object } | { readonly result: RunResult } | { readonly failure: string };
