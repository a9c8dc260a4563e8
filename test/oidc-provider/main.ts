import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Provider, type Context } from "oidc-provider";

/**
 * An OpenID provider as a process of its own: jest cannot load its package. It keeps everything in memory, and its sign-in page lets the
 * visitor be anyone: subject, address and whether it is verified.
 */

interface Account {
  readonly email: string;
  /** Undefined: the provider omits the claim. */
  readonly email_verified: boolean | undefined;
}

const { ISSUER = "", CLIENT_ID = "", CLIENT_SECRET = "", CONSOLE_URL = "" } = process.env;
const accounts = new Map<string, Account>();

const provider = new Provider(ISSUER, {
  clients: [
    {
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      redirect_uris: [`${CONSOLE_URL}/auth/callback`],
      post_logout_redirect_uris: [`${CONSOLE_URL}/sign-in`],
    },
  ],
  cookies: { keys: ["of this test"] },
  claims: { openid: ["sub"], email: ["email", "email_verified"] },
  pkce: { required: () => true },
  ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 3_600, IdToken: 600, Interaction: 600, Session: 3_600 },
  features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true, logoutSource } },
  interactions: { url: (_context: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
  findAccount: (_context: Context, sub: string) => ({ accountId: sub, claims: () => ({ sub, ...accounts.get(sub) }) }),
  /** Asks no one for consent. */
  async loadExistingGrant({ oidc }: Context) {
    const grant = new provider.Grant({ clientId: oidc.client?.clientId, accountId: oidc.session?.accountId });
    grant.addOIDCScope("openid email");
    await grant.save();
    return grant;
  },
});

const page = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,"><main><h1>${title}</h1>${content}</main></html>`;

const SIGN_IN_PAGE = page(
  "Provider",
  `<form method="post">
    <p><label>Subject <input name="sub"></label></p>
    <p><label>E-mail <input name="email"></label></p>
    <p><label>Verified <select name="verified"><option>yes</option><option>no</option><option>omitted</option></select></label></p>
    <button name="action" value="continue">Continue</button> <button name="action" value="cancel">Cancel</button>
  </form>`,
);

function logoutSource(context: Context, form: string): void {
  const who = context.oidc.entities.IdTokenHint === undefined ? "someone" : "whom the ID token names";
  context.body = page(
    "Sign out",
    `<p>Signs out ${who}.</p>${form}<button form="op.logoutForm" name="logout" value="yes">Yes, sign out</button>`,
  );
}

async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "POST") {
    response.setHeader("Content-Type", "text/html; charset=utf-8").end(SIGN_IN_PAGE);
    return;
  }
  const form = new URLSearchParams(await text(request));
  const sub = form.get("sub") ?? "";
  if (form.get("action") === "cancel") return provider.interactionFinished(request, response, { error: "access_denied" });
  const verified = form.get("verified");
  accounts.set(sub, { email: form.get("email") ?? "", email_verified: verified === "omitted" ? undefined : verified === "yes" });
  await provider.interactionFinished(request, response, { login: { accountId: sub } });
}

const answer = provider.callback();
const server = createServer((request, response) => {
  if (request.url?.startsWith("/interaction/") !== true) return answer(request, response);
  interact(request, response).catch((error: unknown) => {
    console.error(error);
    response.writeHead(400).end(String(error));
  });
});
server.listen(Number(new URL(ISSUER).port), "127.0.0.1");
await once(server, "listening");
process.send?.({ ready: {} });
