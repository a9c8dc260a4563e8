import type { ProcessName } from "../../stack.ts";
import type { Call } from "./callers.ts";
import type { DrillSystem } from "./drill-system.ts";

/** A fault, what it does to callers, and how it is noticed. docs/operations.md has a row of the same name, marked as proven. */
export interface Drill {
  readonly fault: string;
  /** Name of the alert that fires, and labels that it has. */
  readonly alert: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Answers of the calls that fail, between the fault and the recovery. Each call gets one of them at least once; others get `ok` only. */
  readonly answers: Answers;
  /** Answers that calls may get, too, by when the fault meets them. */
  readonly atTimes?: Answers;
  /** The process that logs the failed calls, and the dependency that it names. Undefined if no call fails on our side. */
  readonly logged?: { readonly process: ProcessName; readonly dependency: string };
  /** Lines at `error` that the fault causes. Default: none. */
  readonly errors?: RegExp;
  /** Seconds after which the slowest call must have its answer. Default: 5 at the API and 10 in the console, the deadlines. */
  readonly slowestSeconds?: number;
  apply(system: DrillSystem): Promise<void>;
  /** Resolves once what else the table says has been seen, while the fault lasts. */
  during?(system: DrillSystem): Promise<void>;
  heal(system: DrillSystem): Promise<void>;
}

export type Answers = Partial<Readonly<Record<Call, readonly string[]>>>;
