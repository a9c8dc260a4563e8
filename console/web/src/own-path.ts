/** Returns a path of the console to open after signing in. Anything else, such as another site's URL, becomes the first page. */
export const ownPath = (path: unknown): string =>
  typeof path === "string" && /^\/(developers|workspaces)(?![^/?#])[^\\]*$/.test(path) ? path : "/developers";
