import type { Logger, Registry } from "@brand-records/telemetry";
import type { ConsoleConfig } from "../config.ts";
import type { Services } from "../services.ts";
import type { WebFiles } from "./web-files.ts";

/** What the application needs from the process. */
export interface AppDependencies {
  readonly config: ConsoleConfig;
  readonly services: Services;
  readonly web: WebFiles;
  readonly log: Logger;
  readonly metrics: Registry;
  /** While true, every response closes its connection. */
  isStopping(): boolean;
}
