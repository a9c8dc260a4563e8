import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type BrowserContextOptions, type ConsoleMessage, type Page } from "playwright-core";
import { ensureBackingServices } from "./setup/ensure-backing-services.ts";

/** What a person would see as broken, or a developer in the browser's console. */
export interface TestPage {
  readonly page: Page;
  /**
   * Fails if anything went wrong on the page since it was opened: a violation of its policy, an error in the console, an exception or a
   * rejection that nothing handled.
   *
   * @param expectedStatuses of failed responses that the test provokes: browsers write an error for each
   */
  expectNoProblems(...expectedStatuses: number[]): void;
  /** Fails if the page as it is now, or the part of it, breaks a rule of WCAG 2.2 AA or a best practice. */
  expectAccessible(part?: string): Promise<void>;
}

export interface TestBrowser {
  /** Opens a page in a profile of its own. */
  open(options?: BrowserContextOptions): Promise<TestPage>;
  /** Closes all pages. Those that tests leave open go on reading, each in a process of its own, and slow down the tests after them. */
  closePages(): Promise<void>;
  stop(): Promise<void>;
}

/** Playwright's own list, which the last `--disable-features` replaces. Kept as it is. */
const DISABLED_BY_PLAYWRIGHT = [
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "TcpPortRandomizationWin",
  "ThirdPartyStoragePartitioning",
];
/**
 * The address field's pop-ups, which no test sees: two pages in a process of their own for each window. With them and a spare process for
 * the next site, opening a page took twice the CPU time.
 */
const UNSEEN = ["WebUIOmniboxAimPopup", "WebUIOmniboxPopup", "SpareRendererForSitePerProcess"];

const ARGS = [
  // Without a graphics card, an emulated one takes 60% longer than drawing without any.
  "--disable-gpu",
  `--disable-features=${[...DISABLED_BY_PLAYWRIGHT, ...UNSEEN].join()}`,
  // Chromium's sandbox does not work for root, which tests in containers are.
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
];

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** @throws if there is no Chromium and none can be installed; ensure.sh prints the remedy */
export async function startBrowser(): Promise<TestBrowser> {
  const found = await ensureBackingServices("chromium");
  const executablePath = found.get("CHROMIUM") ?? "";
  const browser = await chromium.launch({ executablePath, args: ARGS });
  return {
    async open(options = {}) {
      const context = await browser.newContext(options);
      const problems: string[] = [];
      await context.exposeFunction("reportProblem", (problem: string) => void problems.push(problem));
      await context.addInitScript(REPORT_VIOLATIONS);
      const page = await context.newPage();
      page.on("console", (message) => problems.push(...problemsOf(message)));
      page.on("pageerror", (error) => problems.push(`uncaught: ${error.stack ?? error.message}`));
      return {
        page,
        expectNoProblems(...expectedStatuses) {
          const expected = new Set(expectedStatuses.map((status) => `failed response: ${status}`));
          expect(problems.filter((problem) => !expected.has(problem))).toEqual([]);
        },
        async expectAccessible(part = "html") {
          // Loading axe takes as long as running it.
          if (await page.evaluate<boolean>("globalThis.axe === undefined")) await page.evaluate(AXE);
          await page.evaluate(WHEN_STILL);
          const found = await page.evaluate<unknown[]>(findViolations(part));
          expect([page.url(), ...found]).toEqual([page.url()]);
        },
      };
    },
    async closePages() {
      const pages = browser.contexts().flatMap((context) => context.pages());
      // What a test holds back for longer than it lasts has no page to go to.
      await Promise.all(pages.map((page) => page.unrouteAll({ behavior: "ignoreErrors" })));
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
    stop: () => browser.close(),
  };
}

/** Runs in the page. Not a function: what compiles the tests may add calls of its own helpers. */
const REPORT_VIOLATIONS = `document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile }) =>
  reportProblem("policy violated: " + [violatedDirective, blockedURI, sourceFile].join(" ")));`;

/** Runs in the page: resolves when it has drawn what changed and no transition goes on, in which colours are those of neither state. */
const WHEN_STILL = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  .then(() => document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity))
  .then((transitions) => Promise.allSettled(transitions.map(({ finished }) => finished)))
  .then(() => undefined);`;

/** Runs in the page: the rules that the part violates, each with the elements that do and how. */
const findViolations = (part: string): string =>
  `axe.run(${JSON.stringify(part)}, ${JSON.stringify({ resultTypes: ["violations"], runOnly: { type: "tag", values: RULES } })})
    .then(({ violations }) => violations.map(({ id, nodes }) =>
      [id, ...nodes.map(({ target, failureSummary }) => [target, failureSummary])]))`;

function problemsOf(message: ConsoleMessage): string[] {
  if (message.type() !== "error" && message.type() !== "warning") return [];
  const status = /^Failed to load resource: the server responded with a status of (\d{3})/.exec(message.text())?.[1];
  return [status === undefined ? `console: ${message.text()}` : `failed response: ${status}`];
}
