import type { ErrorBody, Input, OperationName, Output } from "@brand-records/console-contract";
import { FIRST_READS_ID } from "@brand-records/console-contract/protocol";
import { eventually } from "@brand-records/testkit";
import type { Page } from "playwright-core";
import type { TestBrowser, TestPage } from "./browser.ts";
import { callContext, type Stack } from "./stack.ts";

/** A person who calls the console as its pages do. */
export interface ConsoleCaller {
  /** The Cookie header; empty without a session. */
  readonly cookie: string;
  /** @throws Error with the code, if the console refuses */
  call<Name extends OperationName>(name: Name, input: Input<Name>): Promise<Output<Name>>;
  /** Calls with any input, and changed headers. */
  send(
    name: OperationName,
    input: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; code: string | undefined }>;
}

const PAGE_HEADERS = { "content-type": "application/json", "sec-fetch-site": "same-origin" };

export function consoleCaller(consoleUrl: string, cookie: string): ConsoleCaller {
  const post = (name: string, input: unknown, headers: Readonly<Record<string, string>> = PAGE_HEADERS): Promise<Response> =>
    fetch(`${consoleUrl}/console/api/${name}`, { method: "POST", headers: { ...headers, cookie }, body: JSON.stringify(input) });
  return {
    cookie,
    async call(name, input) {
      const response = await post(name, input);
      const body = (await response.json()) as ErrorBody;
      if (!response.ok) throw new Error(`${name}: ${response.status} ${body.error.code}: ${body.error.message}`);
      return body;
    },
    async send(name, input, headers) {
      const response = await post(name, input, headers);
      const body = (await response.json()) as Partial<ErrorBody>;
      return { status: response.status, code: body.error?.code };
    },
  };
}

/** Gives the page's browser the session of a person, as a sign-in in another tab does. */
export async function enter(page: Page, url: string, { cookie }: ConsoleCaller): Promise<void> {
  const [name = "", value = ""] = cookie.split("=");
  await page.context().addCookies([{ name, value, url, httpOnly: true, sameSite: "Lax" }]);
}

/** Opens a page of a signed-in person, in a profile of its own. */
export async function openAs(
  browser: TestBrowser,
  consoleUrl: string,
  caller: ConsoleCaller,
  options: Parameters<TestBrowser["open"]>[0] = {},
): Promise<TestPage> {
  const opened = await browser.open(options);
  await enter(opened.page, consoleUrl, caller);
  return opened;
}

/**
 * Opens a page until its HTML holds what it shows first, and returns that HTML: the server waits a second for it, and no longer, which a busy
 * machine may need.
 */
export async function openWithFirstReads(page: Page, pageUrl: string): Promise<string> {
  let html = "";
  await eventually(async () => {
    html = (await (await page.goto(pageUrl))?.text()) ?? "";
    expect(html).toContain(FIRST_READS_ID);
  });
  return html;
}

/** Makes a sign-in link for a person. */
export async function signInUrl(stack: Stack, consoleUrl: string, email: string): Promise<string> {
  const { token } = await stack.signIn.createSignInLink({ email, ttl_seconds: 0 }, callContext());
  return `${consoleUrl}/sign-in#${token}`;
}

/** Signs a person in with a link, without a browser. */
export async function signIn(stack: Stack, consoleUrl: string, email: string): Promise<ConsoleCaller> {
  return openLink(consoleUrl, await signInUrl(stack, consoleUrl, email));
}

/** Signs in with a link, without a browser. */
export async function openLink(consoleUrl: string, link: string): Promise<ConsoleCaller> {
  const token = new URL(link).hash.slice(1);
  const response = await fetch(`${consoleUrl}/console/api/sign_in.redeem`, {
    method: "POST",
    headers: PAGE_HEADERS,
    body: JSON.stringify({ token }),
  });
  if (!response.ok) throw new Error(`could not sign in: ${await response.text()}`);
  const [cookie = ""] = response.headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
  return consoleCaller(consoleUrl, cookie);
}
