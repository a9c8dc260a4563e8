const FIRST_PAGE = "/developers";
/** A cookie keeps it while a provider signs the person in. Six such cookies take 6.5 KB; proxies such as nginx refuse 8 KB in a header. */
const CHARACTERS_MAX = 500;
/** `/developersx` is not below `/developers`. */
const OWN = /^\/(developers|workspaces)(?![^/?#])/;

/**
 * Returns a path of the console to open after signing in, as a browser would resolve it. Anything else becomes the first page: another
 * site's URL in any disguise, such as `//evil.example`, a path that dot segments lead out of, control characters, which browsers remove
 * before they read a URL, and what is too long.
 */
export function ownPath(path: unknown): string {
  if (typeof path !== "string" || !OWN.test(path) || /[\\\p{Cc}]/u.test(path)) return FIRST_PAGE;
  const { pathname, search, hash } = new URL(path, "https://console.invalid");
  const resolved = `${pathname}${search}${hash}`;
  return OWN.test(pathname) && !pathname.includes("//") && resolved.length <= CHARACTERS_MAX ? resolved : FIRST_PAGE;
}
