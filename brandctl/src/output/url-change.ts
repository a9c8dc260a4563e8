/** Characters that are shown after the host, and after the last difference: lists show no more of what may be a token. */
const REST_CHARACTERS_MAX = 24;

/**
 * Returns a receiver's URL as it was given and as the service calls it; undefined if they are equal. A common end is shortened, because it
 * may be a token.
 */
export function urlChange(given: string, called: string): { readonly given: string; readonly called: string } | undefined {
  if (given === called) return undefined;
  let common = 0;
  while (common < Math.min(given.length, called.length) && given.at(-1 - common) === called.at(-1 - common)) common += 1;
  return { given: withoutEnd(given, common), called: withoutEnd(called, common) };
}

function withoutEnd(url: string, common: number): string {
  const hostEnd = /^[a-z]+:\/\/[^/?]*/i.exec(url)?.[0].length ?? 0;
  const end = Math.max(hostEnd, url.length - common);
  const start = url.slice(0, end);
  const rest = url.slice(end);
  const shown = start.includes("?") ? "" : rest.replace(/\?.*$/, "").slice(0, REST_CHARACTERS_MAX);
  return `${start}${shown}${shown === rest ? "" : "…"}`;
}
