import { eventually } from "@brand-records/testkit";
import type { Page } from "playwright-core";
import type { TestBrowser, TestPage } from "../browser.ts";
import { hold, isInView, returnToTab, withConsole } from "../console.ts";
import { openAs, signIn, signInUrl, type ConsoleCaller } from "../console-calls.ts";
import { planInput, postPlan } from "../plan-input.ts";
import { publishEvents } from "../publish-events.ts";
import { startReceivers, type ReceiverServer } from "../receivers.ts";
import { callContext, type Stack, type TestBrand } from "../stack.ts";

/** One promise: a page says what happened where a person looks, at any width, and nothing that is no longer so. */

let stack: Stack;
let browser: TestBrowser;
let server: ReceiverServer;
let url: string;
let brand: TestBrand;
let owner: ConsoleCaller;
let receiverId: string;
let eventId: string;
let planPath: string;

// Before the stack stops.
afterAll(() => server?.stop());
const WEBHOOK = { RECEIVERS_ON_LOOPBACK: "true", RETRY_DELAYS_SECONDS: "3600" };
withConsole({ env: { USAGE_FLUSH_SECONDS: "1" }, envOf: { webhook: WEBHOOK } }, async (started) => {
  ({ stack, browser, url } = started);
  server = await startReceivers(({ url: path }) => [path.startsWith("/bad") ? 500 : 204]);
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  owner = await signIn(stack, url, brand.owner);
  const register = async (path: string, label: string, events: string[]): Promise<string> =>
    (await owner.call("receivers.create", { brand_id: brand.id, url: server.url + path, label, events })).receiver.id;
  receiverId = await register("good", "Warehouse", ["submission.approved", "submission.rejected", "payout.paid"]);
  await register("bad", "Old dashboard", ["submission.approved"]);
  const at = Date.now();
  const events = await publishEvents(stack, brand.id, [
    { type: "submission.approved", at },
    { type: "submission.approved", at },
    { type: "submission.rejected", at },
    { type: "payout.paid", at },
  ]);
  eventId = events[0]?.id ?? "";
  const response = await postPlan(stack.url, brand.key, planInput({ title: "Rainy season clips", requirements: ["Vertical"] }));
  planPath = ((await response.json()) as { readonly review_path: string }).review_path;
  await owner.call("plans.update", { ...planOf(planPath), expected_revision: 1, changes: { goal: "Another" } });
  await stack.get("/api/v1/conversions?conversion_window=7", brand.key);
  await eventually(async () => {
    const { deliveries } = await owner.call("deliveries.list", { brand_id: brand.id, receiver_id: receiverId });
    expect(deliveries.map(({ state }) => state)).toEqual(["delivered", "delivered", "delivered", "delivered"]);
  });
});

const planOf = (path: string) => ({ brand_id: brand.id, plan_id: path.split("/").at(-1) ?? "" });
const open = (options: Parameters<TestBrowser["open"]>[0] = {}): Promise<TestPage> => openAs(browser, url, owner, options);

/** The calls that a page makes from now on. */
function callsOf(page: Page): string[] {
  const calls: string[] = [];
  page.on("request", (request) => calls.push(...request.url().split("/console/api/").slice(1)));
  return calls;
}

describe("a dialog whose file is not there yet", () => {
  it("keeps what is typed for its field, and its button is busy", async () => {
    const { page, expectNoProblems } = await open();
    const held = await hold(page, "**/assets/find-dialog-*.js");
    await page.goto(`${url}/developers/keys`);
    // Before anybody asks for it.
    await held.asked;
    const button = page.getByRole("button", { name: /^Find/ });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("usagex");
    await page.keyboard.press("Backspace");
    expect(await button.getAttribute("aria-busy")).toBe("true");
    held.release();
    const field = page.getByRole("dialog").getByRole("combobox");
    await field.and(page.locator(":focus")).waitFor();
    await page.keyboard.type("!");
    expect([await field.inputValue(), await button.getAttribute("aria-busy")]).toEqual(["usage!", null]);
    expectNoProblems();
  });

  it("says that it cannot be loaded, and not over what was pressed", async () => {
    const { page, expectNoProblems } = await open();
    await page.route("**/assets/key-dialogs-*.js", (route) => route.fulfill({ status: 404, body: "" }));
    await page.goto(`${url}/developers/keys`);
    for (const [name, width] of [
      ["Create key", 1280],
      ["Create key", 360],
      ["Revoke Test", 360],
    ] as const) {
      await page.setViewportSize({ width, height: 640 });
      const button = page.getByRole("button", { name }).first();
      await button.click();
      const problem = page.getByRole("alert").filter({ hasText: "could not be loaded" });
      await problem.waitFor();
      const [one, other] = [await button.boundingBox(), await problem.boundingBox()];
      const isCovered = one && other && one.y < other.y + other.height && other.y < one.y + one.height;
      expect([name, width, isCovered]).toEqual([name, width, false]);
      await problem.getByRole("button", { name: "Close" }).click();
    }
    expectNoProblems(404);
  });
});

it("no page advises a package that nobody has published", async () => {
  const { page } = await open();
  const expectNone = async (): Promise<void> =>
    expect(await page.locator("body").innerText()).not.toMatch(/npx|@brand-records|events send/);
  await page.goto(`${url}/developers/receivers/${receiverId}`);
  await page.getByRole("button", { name: "Send test" }).click();
  await page.getByRole("dialog").getByText("Only your receiver’s 2xx").waitFor();
  await expectNone();
  await page.keyboard.press("Escape");
  await page
    .getByRole("row", { name: /payout\.paid/ })
    .getByRole("link")
    .click();
  await page.getByText("Copy as sent").waitFor();
  await expectNone();
  await page.goto(`${url}/developers/receivers/new`);
  await page.getByRole("textbox", { name: "URL" }).fill(`${server.url}new`);
  await page.getByRole("textbox", { name: "Label" }).fill("New");
  await page.getByRole("button", { name: "Register receiver" }).click();
  await page.getByRole("dialog").getByText("The guide").waitFor();
  await expectNone();
});

/** Runs in the page: words of up to 24 characters that are on more than one line, but for those that have a hyphen or a slash. */
const BROKEN_WORDS = `(() => {
  const broken = [];
  const range = document.createRange();
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let text; (text = texts.nextNode()); ) {
    if (text.parentElement.closest("thead, pre, textarea, .visually-hidden, details:not([open]) > :not(summary)")) continue;
    for (const { 0: word, index } of text.data.matchAll(/[^\\s/-]+/g)) {
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 1).map(({ top }) => Math.round(top)));
      if (lines.size > 1 && word.length <= 24) broken.push(word);
    }
  }
  return [document.documentElement.scrollWidth <= innerWidth, ...broken];
})()`;

/** Pages with what shows that they are complete. */
const PAGES: readonly (readonly [path: () => string, shown: string])[] = [
  [() => "/developers", "One receiver needs attention"],
  [() => "/developers/keys", "brk_live_…"],
  [() => "/developers/receivers", "Old dashboard"],
  [() => `/developers/receivers/${receiverId}`, "payout.paid"],
  [() => `/developers/receivers/${receiverId}/replay`, "Which events"],
  [() => `/developers/receivers/${receiverId}/settings`, "Activate it"],
  [() => "/developers/events", "payout.paid"],
  [() => `/developers/events/${eventId}`, "Copy as sent"],
  [() => "/developers/usage", "Last hour"],
  [() => "/developers/requests", "invalid_parameter"],
  [() => "/developers/requests/failed", "invalid_parameter"],
  [() => "/developers/mail", "No mail is sent here"],
  [() => "/developers/members", "Change role"],
  [() => "/developers/audit", "Fields: URL, label, events"],
  [() => "/developers/assistants", "claude mcp add"],
  [() => "/workspaces", "1 of 200 pending"],
  [() => planPath, "Save and continue"],
  [() => `${planPath}?step=creative`, "Add a requirement"],
  [() => `${planPath}?step=review`, "Complete plan"],
];

it("no word is broken from 320 to 1440 px, and no page is wider than its window", async () => {
  const { page } = await open();
  for (const [path, shown] of PAGES) {
    await page.goto(`${url}${path()}`);
    await page.getByText(shown).filter({ visible: true }).first().waitFor();
    // A window of 1280 px at a zoom of 200% has 640.
    for (const width of [1440, 1280, 1100, 1024, 800, 640, 360, 320]) {
      await page.setViewportSize({ width, height: 800 });
      expect([path(), width, await page.evaluate(BROKEN_WORDS)]).toEqual([path(), width, [true]]);
    }
  }
}, 180_000);

/** Runs in the page: paragraphs of which a line has more than 75 characters. */
const LONG_LINES = `[...document.querySelectorAll("main p, main li, main [class=prose]")].filter((block) => {
  if (block.querySelector("p, li, pre, dl, table, button, input") !== null || block.innerText.length <= 75) return false;
  const range = document.createRange();
  const lines = new Map();
  const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  for (let text; (text = texts.nextNode()); ) {
    for (let at = 0; at < text.length; at += 1) {
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      const { bottom } = range.getBoundingClientRect();
      const line = Math.round(bottom / 8);
      lines.set(line, (lines.get(line) ?? 0) + 1);
    }
  }
  return Math.max(...lines.values()) > 75;
}).map((block) => block.innerText)`;

it("a line of prose has at most 75 characters", async () => {
  const { page } = await open({ viewport: { width: 1440, height: 900 } });
  for (const [path, shown] of PAGES) {
    await page.goto(`${url}${path()}`);
    await page.getByText(shown).filter({ visible: true }).first().waitFor();
    expect([path(), await page.evaluate(LONG_LINES)]).toEqual([path(), []]);
  }
});

it("an id is on one line, whole for who selects or copies it", async () => {
  const { page } = await open({ viewport: { width: 320, height: 700 }, permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto(`${url}/developers/events/${eventId}`);
  const id = page.locator("dd code", { hasText: eventId });
  await id.waitFor();
  expect((await id.boundingBox())?.height ?? 99).toBeLessThan(24);
  await page.getByRole("button", { name: "Copy the event’s id" }).click();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(eventId);
});

it("hints stand below what they are about, everywhere", async () => {
  const { page } = await open();
  const expectBelow = async (): Promise<void> => {
    const places = await page.evaluate<string[]>(
      `[...document.querySelectorAll("[aria-describedby]")].filter((input) => input.matches("input:not([type=checkbox], [type=radio]), select, textarea"))
        .flatMap((input) => input.getAttribute("aria-describedby").split(" ").map((id) => document.getElementById(id))
          .filter((hint) => hint !== null && hint.getBoundingClientRect().top < input.getBoundingClientRect().bottom).map((hint) => hint.innerText))`,
    );
    expect([page.url(), places]).toEqual([page.url(), []]);
  };
  for (const path of ["receivers/new", `receivers/${receiverId}/settings`, `receivers/${receiverId}/replay`, "events"]) {
    await page.goto(`${url}/developers/${path}`);
    await page.getByRole("main").locator("input").first().waitFor();
    await expectBelow();
  }
  await page.goto(`${url}/developers/keys`);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("dialog").locator("input:focus").waitFor();
  await expectBelow();
});

it("in forced colours, what is chosen and the series of a chart are told apart", async () => {
  const { page } = await open({ forcedColors: "active" });
  await page.goto(`${url}/developers/receivers/${receiverId}`);
  await page.getByRole("row", { name: /payout\.paid/ }).waitFor();
  const grounds = async (selector: string, pseudo = ""): Promise<string[]> =>
    page.evaluate(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => getComputedStyle(one, ${JSON.stringify(pseudo)}).backgroundColor)`,
    );
  for (const nav of ["nav[aria-label=Main]", "nav[aria-label=Receiver]"]) {
    const [current] = await grounds(`${nav} a[aria-current]`);
    expect([nav, (await grounds(`${nav} a:not([aria-current])`)).includes(current ?? "")]).toEqual([nav, false]);
  }
  const keys = await grounds("figcaption span", "::before");
  expect(new Set(keys).size).toBe(2);
});

it("with reduced motion nothing moves, whatever opens or waits", async () => {
  const { page } = await open({ reducedMotion: "reduce" });
  const moving = (): Promise<unknown> =>
    page.evaluate(
      "document.getAnimations().filter(({ effect }) => effect.getComputedTiming().duration > 0).map(({ effect }) => effect.target.className)",
    );
  await page.goto(`${url}/developers/keys`);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Still");
  expect(await moving()).toEqual([]);
  const { asked, release } = await hold(page, "**/console/api/keys.create");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  await asked;
  expect(await moving()).toEqual([]);
  release();
  await page.getByText("This is the only time the key is shown").waitFor();
  expect(await moving()).toEqual([]);
});

it("offline, a page that was not opened before says why, and shows by itself once it can", async () => {
  const { page } = await open();
  await page.goto(`${url}/developers/keys`);
  await page.getByText("brk_live_…").first().waitFor();
  await page.context().setOffline(true);
  await page.getByRole("link", { name: "Members" }).click();
  await page.getByText("You are offline, and this page was not opened before").waitFor();
  await page.context().setOffline(false);
  await page.getByRole("heading", { level: 1, name: "Members" }).waitFor();
  await page.getByRole("button", { name: "Add member" }).waitFor();
});

it("the 21st receiver: the button stays, and says the limit", async () => {
  const full = await stack.createBrand();
  const caller = await signIn(stack, url, full.owner);
  for (let count = 0; count < 20; count += 1) {
    const settings = { url: `${server.url}of-20/${count}`, label: `Receiver ${count}`, events: ["payout.paid"] };
    await caller.call("receivers.create", { brand_id: full.id, ...settings });
  }
  const { page } = await openAs(browser, url, caller);
  await page.goto(`${url}/developers/receivers`);
  await page.getByRole("button", { name: "20 receivers are the limit: delete one to register another" }).waitFor();
});

it("a brand that is not verified reads what to do, and who does it", async () => {
  const other = await stack.createBrand();
  await stack.accounts.setBrandVerified({ brand_id: other.id, verified: false }, callContext());
  const { page } = await openAs(browser, url, await signIn(stack, url, other.owner));
  await page.goto(`${url}/developers/keys`);
  await page.getByText("The operator of this service verifies brands").waitFor();
  await page.getByText("Ask the operator of this service to verify it").waitFor();
});

describe("polling stops", () => {
  it("once the session has ended, where a form keeps the page", async () => {
    const other = await stack.createBrand();
    const caller = await signIn(stack, url, other.owner);
    const { page } = await openAs(browser, url, caller);
    await page.clock.install();
    await page.goto(`${url}/developers/receivers/new`);
    await page.getByRole("textbox", { name: "Label" }).fill("Typed");
    await stack.sessions.endSessionsOf({ email: other.owner }, callContext());
    await returnToTab(page);
    await page.getByText("You are signed out, and what you typed").waitFor();
    const calls = callsOf(page);
    await page.clock.runFor(10 * 60_000);
    expect(calls).toEqual([]);
  });

  it("for a record that does not exist", async () => {
    const { page } = await open();
    await page.clock.install();
    await page.goto(`${url}/developers/deliveries/dlv_unknown`);
    await page.getByText("Nothing is here").waitFor();
    const calls = callsOf(page);
    await page.clock.runFor(5 * 60_000);
    expect(calls.filter((name) => name === "deliveries.get")).toEqual([]);
  });
});

it("a pause that is over is not named as one to come", async () => {
  const { page } = await open();
  await page.clock.install();
  const paused_until = new Date(Date.now() + 40_000).toISOString();
  await page.route("**/console/api/receivers.get", async (route) => {
    const response = await route.fetch();
    const { receiver } = (await response.json()) as { receiver: object };
    await route.fulfill({ response, json: { receiver: { ...receiver, paused_until, failures_in_a_row: 12, waiting: 2 } } });
  });
  await page.goto(`${url}/developers/receivers/${receiverId}/replay`);
  await page.getByText("Which events").waitFor();
  await returnToTab(page);
  await page.getByText("is paused until").waitFor();
  await page.clock.runFor(41_000);
  await page.getByText("One delivery is tried now").waitFor();
  expect(await page.getByText("paused until").count()).toBe(0);
});

it("what a filter shows is sent again, each event once, and the counts follow", async () => {
  const { page, expectNoProblems } = await open();
  await page.goto(`${url}/developers/receivers/${receiverId}?type=submission.approved`);
  await page.getByText(/4 accepted, 0 failed, tests apart/).waitFor();
  await page.getByRole("button", { name: "Send these 2 again" }).click();
  await page.getByRole("dialog").getByText("Receiver: Warehouse").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Send 2 events" }).click();
  await page.getByRole("dialog").getByText("2 events were sent again.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().and(page.locator(":focus")).press("Enter");
  // The counts follow within two seconds, and the list shows them.
  await page.getByText(/6 accepted, 0 failed, tests apart/).waitFor({ timeout: 10_000 });
  await page
    .getByRole("row", { name: /submission\.approved.*Sent again.*Delivered/ })
    .nth(1)
    .waitFor();
  expectNoProblems();
});

it("a replay shows what it did, in view, and arms nothing", async () => {
  const { page, expectNoProblems } = await open({ viewport: { width: 360, height: 640 } });
  await page.goto(`${url}/developers/receivers/${receiverId}/replay`);
  await page.getByRole("radio", { name: "Everything" }).check();
  await page.getByText("4 events will be sent again.").waitFor();
  await page.getByRole("button", { name: "Start replay" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Send 4 events" }).click();
  const result = page.getByText("4 events were sent again.");
  await result.waitFor();
  await page.locator(":focus").filter({ has: result }).waitFor();
  expect([await isInView(result), await page.getByRole("button", { name: "Start replay" }).count()]).toEqual([true, 0]);
  await page.getByRole("button", { name: "Send other events again" }).click();
  await page.getByText("No event since then has failed for good").waitFor();
  expectNoProblems();
});

it("on a phone, filters are closed until they are opened", async () => {
  const { page, expectAccessible } = await open({ viewport: { width: 360, height: 740 } });
  await page.goto(`${url}/developers/events?type=payout.paid`);
  await page.getByRole("button", { name: "Filters (1)" }).waitFor();
  expect(await page.getByLabel("Record id").isVisible()).toBe(false);
  await page.getByRole("button", { name: "Filters (1)" }).click();
  await page.getByLabel("Record id").waitFor();
  await expectAccessible();
});

it("a tab that waits for a sign-in names where one goes, and notices it", async () => {
  const waiting = await browser.open();
  await waiting.page.goto(`${url}/sign-in?return_to=${encodeURIComponent("/developers/keys")}`);
  await waiting.page.getByText("You then go to: API keys.").waitFor();
  const page = await waiting.page.context().newPage();
  await page.goto(await signInUrl(stack, url, brand.owner));
  await page.getByRole("button", { name: /^Sign in as/ }).click();
  await waiting.page.waitForURL(`${url}/developers/keys`);
  await waiting.page.getByText("brk_live_…").first().waitFor();
});

it("the search stays where it is, whatever it finds", async () => {
  const { page } = await open();
  await page.goto(`${url}/developers/keys`);
  await page.getByRole("button", { name: /^Find/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("option").first().waitFor();
  const before = await dialog.boundingBox();
  for (const text of ["usage", "zebra"]) {
    await dialog.getByRole("combobox").fill(text);
    await dialog.getByText(text === "usage" ? "Usage" : "Nothing is found").waitFor();
    expect(await dialog.boundingBox()).toEqual(before);
  }
});

it("the overview calls its numbers as the page of usage does, and is called as its link is", async () => {
  const { page } = await open();
  await stack.get("/api/v1/links", brand.key);
  const names = async (path: string): Promise<string[]> => {
    await page.goto(`${url}${path}`);
    await page.getByText("Busiest clock minute").first().waitFor();
    return page.getByRole("main").locator("dt").allInnerTexts();
  };
  await eventually(
    async () => expect((await owner.call("overview.get", { brand_id: brand.id })).usage?.buckets.length).toBeGreaterThan(0),
    { timeoutMs: 30_000 },
  );
  expect(await names("/developers/usage")).toEqual(await names("/developers"));
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
});

it("the audit log names plans by their titles, and leads to them", async () => {
  const { page } = await open();
  await page.goto(`${url}/developers/audit`);
  await page
    .getByRole("row", { name: /Edit a campaign plan/ })
    .getByRole("link", { name: "Rainy season clips" })
    .click();
  await page.waitForURL(`${url}${planPath}`);
});
