import type { ProviderSignOut } from "../sign-in/provider-sign-out.ts";
import type { SignInProvider } from "../sign-in/provider.ts";
import type { AppDependencies } from "./dependencies.ts";
import type { SessionAdmission } from "./session-admission.ts";

/** What calls, and pages that read as calls do, need from the application. */
export interface CallDependencies extends Pick<AppDependencies, "config" | "services" | "log"> {
  readonly provider: SignInProvider | undefined;
  readonly providerSignOut: ProviderSignOut | undefined;
  readonly sessions: SessionAdmission;
}
