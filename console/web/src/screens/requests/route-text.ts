/** A route's parts as people know them: an assistant's tool, or the method and path of a request. */
export function routeText(route: string): { readonly name: string; readonly of: string | undefined } {
  const [method = "", path = "", message, tool] = route.split(" ");
  if (tool !== undefined) return { name: tool, of: "Assistant, tool call" };
  if (message !== undefined) return { name: message, of: "Assistant" };
  return { name: `${method} ${path}`, of: path === "/api/*" ? "A path that does not exist" : undefined };
}
