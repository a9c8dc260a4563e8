/** Incoming webhooks of team chats: they take messages of the chat's own form and nothing else. */
const CHATS: readonly { readonly host: RegExp; readonly path: RegExp }[] = [
  { host: /^hooks\.slack(-gov)?\.com$/, path: /^/ },
  { host: /^((www|ptb|canary)\.)?discord(app)?\.com$/, path: /^\/api\/(v\d+\/)?webhooks\// },
  { host: /(^|\.)webhook\.office\.com$/, path: /^/ },
  { host: /^outlook\.office(365)?\.com$/, path: /^\/webhook(\/|$)/ },
  // Teams' "Workflows", which have taken the place of its connectors.
  { host: /\.logic\.azure\.com$/, path: /\/workflows\// },
  { host: /\.powerplatform\.com$/, path: /\/workflows\// },
  { host: /^chat\.googleapis\.com$/, path: /^\/v1\/spaces\// },
];

export function isChatWebhook(url: URL): boolean {
  const host = url.hostname.replace(/\.$/, "");
  const path = plainPath(url.pathname);
  return CHATS.some((chat) => chat.host.test(host) && chat.path.test(path));
}

/** As servers read it: `//` is `/`, and `%77` is `w`. */
function plainPath(path: string): string {
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // Not UTF-8: then it is no chat's, whose paths are ASCII.
  }
  return decoded.replaceAll(/\/{2,}/g, "/").toLowerCase();
}
