import type { Logger, Registry } from "@brand-records/telemetry";
import type { ConsoleConfig } from "../config.ts";
import type { Services } from "../services.ts";
import type { WebFiles } from "./web-files.ts";
import type { ProviderSignOut } from "../sign-in/provider-sign-out.ts";
import type { SignInProvider } from "../sign-in/provider.ts";
import type { SessionAdmission } from "./session-admission.ts";

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

/** What calls, and pages that read as calls do, need from the application. */
export interface CallDependencies extends Pick<AppDependencies, "config" | "services" | "log"> {
  readonly provider: SignInProvider | undefined;
  readonly providerSignOut: ProviderSignOut | undefined;
  readonly sessions: SessionAdmission;
}
