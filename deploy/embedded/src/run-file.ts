import { rmSync } from "node:fs";
import type { ProcessIdentity, Stoppable } from "@brand-records/lifecycle";
import { readJson, writeJson, type LocalFiles } from "./local-files.ts";

/**
 * `.local/run.json`: where everything is, and the demo brands' keys. brandctl and tests read it. It exists from before the
 * gateway listens until the launcher stops: a script that waits for the port never reads the addresses of an earlier run.
 */
export interface RunFile {
  /** Tells a run that was killed, and could not remove its file, from one that runs. */
  readonly launcher: ProcessIdentity;
  readonly base_url: string;
  /** Metrics and probes of each process. */
  readonly admin: Readonly<Record<string, string>>;
  /** gRPC address of each service. */
  readonly rpc: Readonly<Record<string, string>>;
  /** Where the platform would write its records. brandctl records set-status does, and tests. */
  readonly platform_database_url: string;
  readonly brands: readonly RunBrand[];
}

export interface RunBrand {
  readonly id: string;
  readonly name: string;
  readonly tier: string;
  readonly keys: { readonly reporting: string; readonly planner: string };
}

export function writeRunFile(files: LocalFiles, run: RunFile): Stoppable {
  writeJson(files.run, run);
  return { stop: () => removeRunFile(files) };
}

export function removeRunFile(files: LocalFiles): void {
  rmSync(files.run, { force: true });
}

/**
 * The demo brands of earlier runs. Their keys are in no other file that outlives a run; an earlier release kept them in the run
 * file alone.
 */
export function readDemoBrands(files: LocalFiles): readonly RunBrand[] {
  const kept = readJson(files.demoBrands) as RunBrand[] | undefined;
  return kept ?? (readJson(files.run) as RunFile | undefined)?.brands ?? [];
}

export function writeDemoBrands(files: LocalFiles, brands: readonly RunBrand[]): void {
  writeJson(files.demoBrands, brands);
}
