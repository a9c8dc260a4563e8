/** Incoming webhooks of team chats. They accept only messages in the chat's own format. */
const CHATS: readonly { readonly host: RegExp; readonly path: RegExp }[] = [
  { host: /^hooks\.slack(-gov)?\.com$/, path: /^/ },
  { host: /^((www|ptb|canary)\.)?discord(app)?\.com$/, path: /^\/api\/(v\d+\/)?webhooks\// },
  { host: /(^|\.)webhook\.office\.com$/, path: /^/ },
  { host: /^outlook\.office(365)?\.com$/, path: /^\/webhook(\/|$)/ },
  // Teams' "Workflows", which replaced its connectors.
  { host: /\.logic\.azure\.com$/, path: /\/workflows\// },
  { host: /\.powerplatform\.com$/, path: /\/workflows\// },
  { host: /^chat\.googleapis\.com$/, path: /^\/v1\/spaces\// },
];

export function isChatWebhook(url: URL): boolean {
  const host = url.hostname.replace(/\.$/, "");
  const path = decodePath(url.pathname);
  return CHATS.some((chat) => chat.host.test(host) && chat.path.test(path));
}

/** Returns a path as servers read it: `//` is `/`, and `%77` is `w`. */
function decodePath(path: string): string {
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // A path that is not UTF-8 is not a chat's: those are ASCII.
  }
  return decoded.replaceAll(/\/{2,}/g, "/").toLowerCase();
}
