export { CLOCK_SKEW_SECONDS, openDiscovery, PROVIDER_SECONDS_MAX, type Provider, type Registration } from "./discovery.ts";
export { readEmailClaims, type ProviderEmail } from "./email-claims.ts";
export { diagnoseProviderError, type ProviderDiagnosis } from "./provider-errors.ts";
export { ProviderMismatch } from "./provider-mismatch.ts";
export { oidcSettings, requireTogether } from "./settings.ts";
