import { eventually } from "@brand-records/testkit";
import type { Page } from "playwright-core";
import { startBrowser, type TestBrowser } from "../browser.ts";
import { CONSOLE_CHANGES, type Change } from "../console-changes.ts";
import { openAs, signIn } from "../console-calls.ts";
import { pointer } from "../hands.ts";
import { startStack, type Stack } from "../stack.ts";

/** One promise: what the console shows once reaches the person who had it made. */

let stack: Stack;
let browser: TestBrowser;
let url: string;

beforeAll(async () => {
  [stack, browser] = await Promise.all([startStack({ hasConsole: true }), startBrowser()]);
  url = stack.gateways[0].console?.url ?? "";
}, 300_000);
afterEach(() => browser.closePages());
afterAll(async () => {
  await browser?.stop();
  await stack?.stop();
});

/** Whether closing the tab would be asked about. */
const asksBeforeUnload = (page: Page): Promise<boolean> =>
  page.evaluate("!globalThis.dispatchEvent(new Event('beforeunload', { cancelable: true }))");

/** Runs in the page: a wait of this length never ends, so what shows has not waited for it. */
const WITHOUT_LONG_WAITS = `const start = globalThis.setTimeout;
globalThis.setTimeout = (run, ms, ...rest) => (ms === 5_000 ? 0 : start(run, ms, ...rest));`;

const MAKERS = ["keys.create", "receivers.create", "receivers.rotate", "members.link"] as const;

it.each(MAKERS)(
  "%s: the page stays until its secret shows, which waits for no list",
  async (name) => {
    const change: Change = CONSOLE_CHANGES[name];
    const { id, owner: email } = await stack.createBrand();
    const owner = await signIn(stack, url, email);
    const { page, expectNoProblems } = await openAs(browser, url, owner);
    await page.addInitScript(WITHOUT_LONG_WAITS);
    const brand = { id, name: "", owner, key: "", gatewayUrl: stack.url, receiverUrl: "https://receiver.example/" };
    const path = await change.make(brand, email);
    await page.goto(url + path);
    await change.fill(page, pointer, email);
    expect(await asksBeforeUnload(page)).toBe(false);

    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route(/console\/api\/.*\.(list|get)$/, () => {});
    await page.route(`**/console/api/${name}`, async (route) => {
      const response = await route.fetch();
      await isReleased;
      await route.fulfill({ response });
    });
    const sent = page.waitForRequest(`**/console/api/${name}`);
    await change.submit(page, pointer);
    await sent;
    await eventually(async () => expect(await asksBeforeUnload(page)).toBe(true));
    // Dialogs lie above it; the browser's Back does the same.
    await page.getByRole("link", { name: "Usage", includeHidden: true }).first().dispatchEvent("click");
    release();
    const dialog = page.getByRole("dialog").filter({ hasText: "This is the only time" });
    await dialog.waitFor();
    expect(new URL(page.url()).pathname).toBe(path);
    await dialog.getByRole("button", { name: /^I have / }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await asksBeforeUnload(page)).toBe(false);
    expectNoProblems();
  },
  60_000,
);
