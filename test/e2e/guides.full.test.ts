import { startBrowser, type TestBrowser } from "../browser.ts";
import { startOnSharedServices, type SharedStack } from "../stack.ts";

/** One promise: everyone can read the guides: on a phone, in the dark, by keyboard, by screen reader. */

let stack: SharedStack;
let browser: TestBrowser;
beforeAll(async () => {
  [stack, browser] = await Promise.all([startOnSharedServices(), startBrowser()]);
}, 180_000);
afterAll(async () => {
  await browser?.stop();
  await stack?.stop();
});

describe.each([
  ["on a phone", { viewport: { width: 390, height: 800 } }],
  ["in the dark", { viewport: { width: 1440, height: 900 }, colorScheme: "dark" }],
] as const)("%s", (_, options) => {
  it.each(["api", "errors", "syncing", "webhooks", "assistants", "command-line", "clients", "python", "examples/dlt"])(
    "%s is accessible, fits the screen, and makes no request to another host",
    async (name) => {
      const { page, expectAccessible, expectNoProblems } = await browser.open(options);
      const elsewhere: string[] = [];
      page.on(
        "request",
        (request) => void (request.url().startsWith(stack.url) || request.url().startsWith("data:") || elsewhere.push(request.url())),
      );
      await page.goto(`${stack.url}/docs/${name}`);
      await expectAccessible();
      expect(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(0);
      expect(elsewhere).toEqual([]);
      expectNoProblems();
      await browser.closePages();
    },
  );
});
