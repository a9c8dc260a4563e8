import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { freePort } from "@brand-records/postgres/embedded";
import { startProcess, type ServiceProcess } from "@brand-records/testkit";

/** An OpenID provider whose settings a console can have before it runs. */
export interface TestProvider {
  readonly issuer: string;
  readonly clientSecret: string;
  /** The console's settings for it. */
  readonly settings: Readonly<Record<string, string>>;
  /** Those of accounts, which verifies its ID tokens and needs no secret. */
  readonly settingsOfAccounts: Readonly<Record<string, string>>;
  start(consoleUrl: string): Promise<ServiceProcess>;
}

/** Another host than the console's, so that each has its own cookies and requests between them are cross-site. */
export async function planTestProvider(): Promise<TestProvider> {
  const issuer = `http://127.0.0.1:${await freePort()}`;
  const clientSecret = randomBytes(24).toString("base64url");
  const client = { CLIENT_ID: "console", CLIENT_SECRET: clientSecret };
  return {
    issuer,
    clientSecret,
    settingsOfAccounts: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: client.CLIENT_ID },
    settings: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: client.CLIENT_ID, OIDC_CLIENT_SECRET: clientSecret, OIDC_NAME: "Test ID" },
    start: (consoleUrl) =>
      startProcess({
        name: "provider",
        script: join(process.cwd(), "test/dist/oidc-provider/main.js"),
        env: { ISSUER: issuer, CONSOLE_URL: consoleUrl, ...client },
      }),
  };
}
