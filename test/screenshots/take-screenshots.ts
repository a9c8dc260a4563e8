import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startBrowser, type TestBrowser } from "../browser.ts";
import { startStack, type Stack } from "../stack.ts";
import { fillBrands, type Filled } from "./fill-brands.ts";
import { startReceiverServer, type ReceiverServer } from "./receiver-server.ts";
import { SHOTS, type Shot } from "./shots.ts";

/**
 * Takes the pictures that shots.ts lists: the console on a system of its own, with data as brands have it. `-t keys` takes those whose
 * name contains "keys". Those in the documentation are written there, too.
 */

const FOLDER = join(process.cwd(), ".local/screenshots");
const DOCUMENTATION = join(process.cwd(), "docs/images");

const VIEWS = [
  ["wide", { viewport: { width: 1280, height: 800 } }],
  ["narrow", { viewport: { width: 320, height: 740 } }],
  ["dark", { viewport: { width: 1280, height: 800 }, colorScheme: "dark" }],
  ["forced", { viewport: { width: 1024, height: 800 }, forcedColors: "active" }],
] as const;

const fileOf = (name: string, view: string): string => `${name}.${view}.png`;

let stack: Stack;
let browser: TestBrowser;
let server: ReceiverServer;
let filled: Filled;
let url: string;

beforeAll(async () => {
  const webhook = { RECEIVERS_ON_LOOPBACK: "true", RETRY_DELAYS_SECONDS: "1,1,1,3600,3600", DELIVERY_DEADLINE_MS: "2000" };
  [stack, browser, server] = await Promise.all([
    startStack({ hasConsole: true, envOf: { webhook } }),
    startBrowser(),
    startReceiverServer(),
  ]);
  url = stack.gateways[0].console?.url ?? "";
  filled = await fillBrands(stack, url, server);
  await mkdir(FOLDER, { recursive: true });
  // Pictures of shots that are no longer listed go. The others stay until they are taken again.
  const listed = new Set(SHOTS.flatMap(({ name }) => VIEWS.map(([view]) => fileOf(name, view))));
  for (const file of await readdir(FOLDER)) if (!listed.has(file)) await rm(join(FOLDER, file), { recursive: true });
}, 180_000);
afterAll(async () => {
  await browser?.stop();
  await stack?.stop();
  server?.stop();
});

describe.each(VIEWS)("%s", (view, options) => {
  /** One for each person: what it has loaded once it need not load again. */
  const pages = new Map<Shot["as"], Page>();

  async function pageOf(as: Shot["as"]): Promise<Page> {
    const known = pages.get(as);
    if (known !== undefined) return known;
    const { page } = await browser.open({ ...options, reducedMotion: "reduce" });
    page.setDefaultTimeout(10_000);
    const [name = "", value = ""] = as === undefined ? [] : filled.people[as].cookie.split("=");
    if (as !== undefined) await page.context().addCookies([{ name, value, url, httpOnly: true, sameSite: "Lax" }]);
    pages.set(as, page);
    return page;
  }

  it.each(SHOTS)("$name", async ({ name, as, path, shown, before, act, documented }: Shot) => {
    const file = join(FOLDER, fileOf(name, view));
    const page = await pageOf(as);
    await page.goto("about:blank");
    await before?.(page);
    try {
      await page.goto(`${url}${path(filled)}`);
      await page.getByText(shown).filter({ visible: true }).first().waitFor();
      await act?.(page);
    } finally {
      // Takes what went wrong, too.
      await page.screenshot({ path: file, fullPage: true, animations: "disabled" });
      await page.unrouteAll({ behavior: "ignoreErrors" });
    }
    if (documented === undefined || view !== "wide") return;
    if (documented !== true) await page.getByText(documented).last().scrollIntoViewIfNeeded();
    await page.screenshot({ path: join(DOCUMENTATION, `${name}.png`), animations: "disabled" });
  });
});
