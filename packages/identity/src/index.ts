export { GRANT_AUDIENCES, grantKeyFrom, signGrant, verifyGrant, type Grant, type GrantAudience, type GrantKey } from "./grants/grant.ts";
export { CLOCK_SKEW_SECONDS, openDiscovery, PROVIDER_SECONDS_MAX, type Provider } from "./openid-provider/discovery.ts";
export { readEmailClaims } from "./openid-provider/email-claims.ts";
export { diagnoseProviderError } from "./openid-provider/provider-errors.ts";
export { oidcSettings, requireTogether } from "./openid-provider/settings.ts";
