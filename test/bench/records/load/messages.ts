import type { BuildName } from "../../build.ts";
import type { TracedName } from "../tracing/traced.ts";

/** Messages between the benchmark and its load generator. */

export type VariantName = "single" | "bare" | "product" | "tool" | "sdk" | "legacy" | "endpoint" | "sdk_1" | TracedName | BuildName;

/** Sets of API keys, each with one key per brand, by brand number. */
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
  /** Time from the first request to the last response. */
  readonly seconds: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

export type ToLoad = { readonly keySets: KeySets } | { readonly prepare: Destination } | { readonly run: RunRequest };
export type FromLoad =
  { readonly ready: object } | { readonly prepared: object } | { readonly result: RunResult } | { readonly failure: string };
