export { GRANT_AUDIENCES, GRANT_SECONDS, type Grant, type GrantAudience } from "./grants/grant.ts";
export { grantKeyFrom, signGrant, type GrantKey } from "./grants/grant.ts";
export { verifyGrant, type FindKey } from "./grants/grant.ts";
export { CLOCK_SKEW_SECONDS, openDiscovery, PROVIDER_SECONDS_MAX, type Provider, type Registration } from "./openid-provider/discovery.ts";
export { readEmailClaims, type ProviderEmail } from "./openid-provider/email-claims.ts";
export { diagnoseProviderError, type ProviderDiagnosis } from "./openid-provider/provider-errors.ts";
export { ProviderMismatch } from "./openid-provider/discovery.ts";
export { oidcSettings, requireTogether } from "./openid-provider/settings.ts";
