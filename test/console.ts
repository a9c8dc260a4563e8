import type { Locator, Page, Request } from "playwright-core";
import { startBrowser, type TestBrowser } from "./browser.ts";
import { startStack, type Stack } from "./stack.ts";

/** What the tests of the console share: a stack with a browser, and what a person or a bad connection does to a page. */

export interface StartedConsole {
  readonly stack: Stack;
  readonly browser: TestBrowser;
  /** The console's. */
  readonly url: string;
}

/**
 * Starts one stack with a console and one browser for all tests of a file, and stops them after the last. Each test's pages close with it.
 *
 * @param setUp prepares what the tests share, once both run
 */
export function withConsole(options: Parameters<typeof startStack>[0], setUp: (started: StartedConsole) => unknown): void {
  let stack: Stack | undefined;
  let browser: TestBrowser | undefined;
  beforeAll(async () => {
    const started = await Promise.all([startStack({ hasConsole: true, ...options }), startBrowser()]);
    [stack, browser] = started;
    await setUp({ stack: started[0], browser: started[1], url: started[0].gateways[0].console?.url ?? "" });
  }, 300_000);
  afterEach(() => browser?.closePages());
  afterAll(async () => {
    await browser?.stop();
    await stack?.stop();
  });
}

/** Has the page read everything again, as a return to its tab does. */
export const returnToTab = (page: Page): Promise<unknown> =>
  page.evaluate("globalThis.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");

export interface Held {
  /** The first request that is held. */
  readonly asked: Promise<Request>;
  release(): void;
}

/** Holds back the page's requests to a URL until they are released. */
export async function hold(page: Page, url: string): Promise<Held> {
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  const asked = page.waitForRequest(url, { timeout: 0 });
  // A page that closes ends the wait, which some tests never ask for.
  asked.catch(() => {});
  await page.route(url, (route) => isReleased.then(() => route.continue()));
  return { asked, release };
}

/** What the open dialog asks for before it does what cannot be undone: a word, or the name of its object. */
export const wordAskedFor = (page: Page): Promise<string> => page.getByRole("dialog").locator("[id$='-description']").innerText();

const HEADER_PX = 56;

/** Whether an element begins in the window, below the header. */
export async function isInView(element: Locator): Promise<boolean> {
  const { y = -1, height = 0 } = (await element.first().boundingBox()) ?? {};
  return y >= HEADER_PX && y + Math.min(height, 20) <= (element.page().viewportSize()?.height ?? 0);
}
