/** What the benchmark and its load generator say to each other. */

export type VariantName = "single" | "bare" | "product" | "tool" | "sdk" | "legacy" | "endpoint" | "sdk_1";

/** Several API keys of every brand: sets, each with one of every brand by its number. */
export type KeySets = readonly (readonly string[])[];

export interface Destination {
  readonly variant: VariantName;
  readonly port: number;
}

export interface RunRequest extends Destination {
  readonly seconds: number;
}

export interface RunResult {
  readonly requests: number;
  /** From the first request to the last answer. */
  readonly seconds: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

export type ToLoad = { readonly keySets: KeySets } | { readonly prepare: Destination } | { readonly run: RunRequest };
export type FromLoad =
  { readonly ready: object } | { readonly prepared: object } | { readonly result: RunResult } | { readonly failure: string };
