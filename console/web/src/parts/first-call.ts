/** A command that makes the first call, with the key in a variable. */
export const firstCall = (): string =>
  `curl '${window.location.origin}/api/v1/campaigns?limit=2' \\\n  -H "Authorization: Bearer $BRAND_RECORDS_KEY"`;
