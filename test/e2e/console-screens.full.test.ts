import { pageAt, type PageName } from "@brand-records/console-contract/pages";
import { eventually } from "@brand-records/testkit";
import type { Page } from "playwright-core";
import type { TestBrowser, TestPage } from "../browser.ts";
import { hold, withConsole } from "../console.ts";
import { openAs, openWithFirstReads, signIn, signInUrl, type ConsoleCaller } from "../console-calls.ts";
import { keyboardOf } from "../hands.ts";
import { planInput, postPlan } from "../plan-input.ts";
import { publishEvents, type PublishedEvent } from "../publish-events.ts";
import { startReceivers, type ReceiverServer } from "../receivers.ts";
import type { Stack, TestBrand } from "../stack.ts";

/** One promise: every screen can be used by everyone: on a phone, in the dark, by keyboard, by screen reader. */

let stack: Stack;
let browser: TestBrowser;
let receivers: ReceiverServer;
let brand: TestBrand;
let url: string;
let owner: ConsoleCaller;
let receiverId: string;
let disabledId: string;
let deliveryId: string;
let event: PublishedEvent | undefined;
let planPath: string;
let completedPath: string;

// Before the stack stops.
afterAll(() => receivers?.stop());
const OPTIONS = {
  env: { USAGE_FLUSH_SECONDS: "1" },
  envOf: {
    webhook: { RECEIVERS_ON_LOOPBACK: "true", RETRY_DELAYS_SECONDS: "3600" },
    console: { COMMAND_LINE: "npx @acme/records" },
  },
};
withConsole(OPTIONS, async (started) => {
  ({ stack, browser, url } = started);
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  owner = await signIn(stack, url, brand.owner);
  receivers = await startReceivers(() => [500, "<script>document.title = 'taken'</script>"]);
  const register = async (label: string): Promise<string> => {
    const settings = { url: receivers.url + label.replace(" ", "-"), label, events: ["payout.paid"] };
    return (await owner.call("receivers.create", { brand_id: brand.id, ...settings })).receiver.id;
  };
  receiverId = await register("Warehouse");
  disabledId = await register("Old dashboard");
  await owner.call("receivers.disable", { brand_id: brand.id, receiver_id: disabledId });
  ({ delivery_id: deliveryId } = await owner.call("receivers.test", {
    brand_id: brand.id,
    receiver_id: receiverId,
    type: "payout.paid",
    next: false,
  }));
  [event] = await publishEvents(stack, brand.id, [{ type: "payout.paid", at: Date.now() }]);
  await stack.get("/api/v1/links", brand.key);
  await failRequests();
  planPath = await preparePlan();
  completedPath = await preparePlan();
  await owner.call("plans.complete", {
    ...planOf(completedPath),
    expected_revision: 1,
    confirmed_pay: true,
    confirmed_rights: true,
    confirmed_funding: true,
  });
});

/** Requests that are refused, with ids of the caller's own and a key that is revoked since. */
async function failRequests(): Promise<void> {
  const { key, secret } = await owner.call("keys.create", { brand_id: brand.id, name: "Reconciliation", may_prepare: false });
  for (const requestId of ["w".repeat(64), crypto.randomUUID()]) {
    const headers = { authorization: `Bearer ${secret}`, "x-request-id": requestId };
    const { status } = await fetch(`${stack.url}/api/v1/conversions?conversion_window=7`, { headers });
    expect(status).toBe(400);
  }
  await owner.call("keys.revoke", { brand_id: brand.id, key_id: key.id });
}

/** @returns the path of its page */
async function preparePlan(): Promise<string> {
  const input = planInput({ requirements: ["Vertical", "Captions"], platforms: ["tiktok"], notes: "Ours" });
  const response = await postPlan(stack.url, brand.key, input);
  return ((await response.json()) as { readonly review_path: string }).review_path;
}

const planOf = (path: string) => ({ brand_id: brand.id, plan_id: path.split("/").at(-1) ?? "" });

/** Each width with one of the colour schemes: a colour that is too pale on one width is so on the other. */
const VIEWS = [
  { width: 1280, height: 800, colorScheme: "light" },
  { width: 360, height: 740, colorScheme: "dark" },
] as const;

const DIALOG = "[role=dialog]";

/** Each screen with what shows that it is complete. */
const SCREENS: readonly (readonly [path: () => string, shown: string])[] = [
  [() => "/developers", "Have a test delivery accepted"],
  [() => "/developers/keys", "brk_live_…"],
  [() => "/developers/receivers", "2 of 20 receivers"],
  [() => "/developers/receivers/new", "A payout was paid"],
  [() => `/developers/receivers/${receiverId}`, "payout.paid (test)"],
  [() => `/developers/receivers/${receiverId}/replay`, "No event since then has failed for good"],
  [() => `/developers/receivers/${receiverId}/settings`, "Attempts in flight"],
  [() => `/developers/receivers/${disabledId}`, "by an owner"],
  [() => `/developers/deliveries/${deliveryId}`, "Attempt 1"],
  [() => "/developers/assistants", "claude mcp add"],
  [() => "/developers/deliveries/dlv_unknown", "Nothing is here"],
  [() => "/developers/events", "po_01"],
  [() => "/developers/events?type=campaign.settled", "No events match these filters"],
  [() => `/developers/events/${event?.id}`, "Copy as sent"],
  [() => "/developers/events/evt_unknown", "An event is kept for 30 days"],
  [() => "/developers/usage", "All keys"],
  [() => "/developers/requests", "invalid_parameter"],
  [() => "/developers/requests?id=unknown", "No requests match these filters"],
  [() => "/developers/requests/failed", "Last 2 request ids"],
  [() => "/developers/requests/failed?code=internal_error", "No failed requests match"],
  [() => "/developers/members", "Change role"],
  [() => "/developers/mail", "No mail is sent here"],
  [() => "/developers/audit", "Fields: URL, label, events"],
  [() => "/workspaces", "1 of 200 pending"],
  [() => "/workspaces?status=cancelled", "No plan is cancelled"],
  [() => planPath, "Save and continue"],
  [() => `${planPath}?step=budget`, "A figure to plan with"],
  [() => `${planPath}?step=creative`, "Add a requirement"],
  [() => `${planPath}?step=notes`, "Only your team sees these."],
  [() => `${planPath}?step=review`, "Complete plan"],
  [() => completedPath, "Nothing was published"],
  [() => "/workspaces/blitz/plans/pln_unknown", "Nothing is here"],
  [() => "/developers/nowhere", "Nothing is here"],
];

/** What has moved on a page though no one has touched it: the sum that browsers report as cumulative layout shift, or more. */
const SUM_LAYOUT_SHIFTS = `globalThis.layoutShift = 0;
new PerformanceObserver((list) => {
  for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) globalThis.layoutShift += value;
}).observe({ type: "layout-shift", buffered: true });`;

/** A page of a signed-in owner. */
const openSignedIn = (options: Parameters<TestBrowser["open"]>[0]): Promise<TestPage> => openAs(browser, url, owner, options);

/** Checks the page, or the part of it, in every view, and leaves it in the first. */
async function expectUsableInEveryView({ page, expectAccessible }: TestPage, part = "html"): Promise<void> {
  for (const { width, height, colorScheme } of VIEWS) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    expect([page.url(), width, await page.evaluate("document.documentElement.scrollWidth <= innerWidth")]).toEqual([
      page.url(),
      width,
      true,
    ]);
    await expectAccessible(part);
  }
  const [{ width, height, colorScheme }] = VIEWS;
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme });
}

/** Notes in the page what it shows as soon as its script shows something, and what was requested before that. */
const NOTE_FIRST_PAINT = `new MutationObserver((_changes, observer) => {
  if (document.querySelector(".page-title") === null) return;
  observer.disconnect();
  globalThis.firstPaint = {
    text: document.querySelector("main").innerText,
    isLoading: document.querySelector("main [aria-label=Loading]") !== null,
    requests: performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname),
  };
}).observe(document, { subtree: true, childList: true });`;

interface FirstPaint {
  readonly text: string;
  readonly isLoading: boolean;
  readonly requests: readonly string[];
}

/** Resolves once the effects of a page's first paint have run: a filter or a form may call later. */
const AFTER_EFFECTS = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))";

/** Pages of which a part has a script of its own. */
const WITH_LATE_PARTS: ReadonlySet<string> = new Set(["plan", "receiverSettings"]);

/** The calls that the shown page has begun, answered or not. */
function callsOf(page: Page): readonly string[] {
  const calls: string[] = [];
  page.on("request", (request) => {
    if (request.isNavigationRequest()) calls.length = 0;
    calls.push(...request.url().split("/console/api/").slice(1));
  });
  return calls;
}

it("a page shows all that it reads with what its HTML names and holds: no script waits for a call, and requests are few", async () => {
  const receiver = `/developers/receivers/${receiverId}`;
  await eventually(async () => {
    const { deliveries } = await owner.call("deliveries.list", { brand_id: brand.id, receiver_id: receiverId });
    expect(deliveries.map(({ attempts, sending_since }) => [attempts, sending_since])).toEqual([
      [1, null],
      [1, null],
    ]);
  });
  // The gateway reports what it has counted from time to time.
  await eventually(async () => {
    const { usage } = await owner.call("overview.get", { brand_id: brand.id });
    expect(usage?.buckets.length).toBeGreaterThan(0);
  });
  const pages: Readonly<Record<PageName, readonly [path: string, ...shown: string[]]>> = {
    signIn: ["/sign-in", "sign-in link"],
    overview: ["/developers", "Create an API key", "Requests per hour", "1 campaign plan"],
    keys: ["/developers/keys", "brk_live_…"],
    receivers: ["/developers/receivers", "Warehouse"],
    newReceiver: ["/developers/receivers/new", "URL"],
    receiver: [receiver, "By hour", event?.recordId ?? "", "payout.paid (test)"],
    replay: [`${receiver}/replay`, "Send events again"],
    receiverSettings: [`${receiver}/settings`, "Settings of Warehouse"],
    delivery: [`/developers/deliveries/${deliveryId}`, "Warehouse", "Newer", "Request headers"],
    events: ["/developers/events", "payout.paid"],
    event: [`/developers/events/${event?.id}`, "Warehouse"],
    usage: ["/developers/usage", "All keys"],
    requests: ["/developers/requests", "invalid_parameter"],
    failedRequests: ["/developers/requests/failed", "Last 2 request ids"],
    audit: ["/developers/audit", "Warehouse"],
    members: ["/developers/members", brand.owner],
    mail: ["/developers/mail", "No mail is sent here", "Plans and keys"],
    assistants: ["/developers/assistants", "/api/mcp"],
    plans: ["/workspaces", "1 of 200 pending"],
    plan: [planPath, "Prepared by"],
  };
  const found: unknown[] = [];
  for (const [name, [path, ...shown]] of Object.entries(pages)) {
    const { page, expectNoProblems } = name === "signIn" ? await browser.open() : await openAs(browser, url, owner);
    await page.addInitScript(NOTE_FIRST_PAINT);
    const calls = callsOf(page);
    const html = await openWithFirstReads(page, `${url}${path}`);
    // Playwright's own wait runs in the page what its policy refuses.
    await eventually(async () => expect(await page.evaluate("globalThis.firstPaint !== undefined")).toBe(true));
    const { text, isLoading, requests } = await page.evaluate<FirstPaint>("globalThis.firstPaint");
    const unnamed = requests.filter((request) => !html.includes(`"${request}"`));
    await page.evaluate(AFTER_EFFECTS);
    // What loads late reads who the person is.
    const asked = calls.filter((call) => !(WITH_LATE_PARTS.has(name) && call === "session.me"));
    found.push({ name, missing: shown.filter((part) => !text.includes(part)), isLoading, unnamed, calls: asked });
    // The page itself, too.
    expect(new Set(requests).size + 1).toBeLessThanOrEqual(14);
    expectNoProblems();
    await page.context().close();
  }
  // A plan's step is a script of its own, and a replay's form counts what it would send.
  const later = (name: string) => ({ isLoading: name === "plan", calls: name === "replay" ? ["replays.count"] : [] });
  expect(found).toEqual(Object.keys(pages).map((name) => ({ name, missing: [], unnamed: [], ...later(name) })));
});

it("every screen is accessible, fits its width and breaks no policy", async () => {
  const opened = await openSignedIn({});
  await opened.page.addInitScript(SUM_LAYOUT_SHIFTS);
  for (const [path, shown] of SCREENS) {
    // What is no page reads nothing first.
    await (pageAt(path()) === undefined ? opened.page.goto(`${url}${path()}`) : openWithFirstReads(opened.page, `${url}${path()}`));
    await opened.page.getByText(shown).first().waitFor();
    expect([path(), await opened.page.evaluate("globalThis.layoutShift <= 0.05 || globalThis.layoutShift")]).toEqual([path(), true]);
    expect([path(), await opened.page.getByRole("heading", { level: 1 }).count()]).toEqual([path(), 1]);
    await expectUsableInEveryView(opened);
  }
  // The unknown delivery, event and plan.
  opened.expectNoProblems(404);
}, 180_000);

it("a state is on one line at every width, and no table is wider than its page", async () => {
  const { page } = await openSignedIn({});
  for (const [path, shown] of [
    ["/developers/receivers", "2 of 20 receivers"],
    [`/developers/receivers/${receiverId}`, "payout.paid (test)"],
    [`/developers/events/${event?.id}`, "Copy as sent"],
    ["/developers/requests", "invalid_parameter"],
    ["/developers/requests/failed", "Last 2 request ids"],
  ] as const) {
    await page.goto(`${url}${path}`);
    await page.getByText(shown).first().waitFor();
    if (path === "/developers/requests/failed") await page.getByText(shown).click();
    await page.locator("table [class*=badge]").first().waitFor();
    for (const width of [1280, 1024, 900, 800]) {
      await page.setViewportSize({ width, height: 800 });
      const [heights, fits] = await page.evaluate<[number[], boolean]>(
        `[[...document.querySelectorAll("table [class*=badge]")].map((badge) => badge.getClientRects().length === 1 ? badge.getBoundingClientRect().height : -1),
          document.documentElement.scrollWidth <= innerWidth]`,
      );
      expect(heights.length).toBeGreaterThan(0);
      expect([path, width, heights.filter((height) => height < 0 || height > 30), fits]).toEqual([path, width, [], true]);
    }
  }
});

it("a receiver's deliveries are in sight below one line of state and low bars", async () => {
  const { page, expectNoProblems } = await openSignedIn({ viewport: { width: 1280, height: 900 } });
  await page.goto(`${url}/developers/receivers/${receiverId}`);
  const row = page.getByRole("row", { name: /payout\.paid \(test\)/ });
  await row.waitFor();
  const chart = page.locator("figure svg").first();
  await chart.waitFor();
  const { y = 900, height = 0 } = (await row.boundingBox()) ?? {};
  expect(y + height).toBeLessThan(900);
  expect(await chart.evaluate((svg) => svg.clientHeight)).toBeLessThanOrEqual(60);

  await row.getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "payout.paid (test)" }).waitFor();
  await page.getByRole("definition").filter({ hasText: "http://127.0.0.1:" }).waitFor();
  await page.getByText("Request headers").click();
  await page.getByText("The signatures are not stored").waitFor();
  await page.getByText("Send this event to a machine of your own").click();
  await page.getByText("npx @acme/records events send payout.paid --body event.json").waitFor();
  // The event of the test file, to the same receiver, is beside it.
  await page.getByRole("link", { name: /^(Newer|Older)$/ }).click();
  await page.getByRole("heading", { level: 1, name: "payout.paid", exact: true }).waitFor();
  await page.reload();
  await page.getByRole("link", { name: /^(Newer|Older)$/ }).click();
  await page.getByRole("heading", { level: 1, name: "payout.paid (test)" }).waitFor();
  expectNoProblems();
});

it("an event's body shows to its last brace, on paper too, where the navigation does not", async () => {
  const { page } = await openSignedIn({});
  await page.goto(`${url}/developers/events/${event?.id}`);
  const body = page.getByRole("region", { name: "Body as sent" });
  await body.waitFor();
  const hidden = "[...document.querySelectorAll('pre')].map((element) => element.scrollHeight - element.clientHeight)";
  expect(await page.evaluate(hidden)).toEqual([0]);
  expect(await page.getByText("Times are in Asia/Manila").filter({ visible: true }).count()).toBe(1);
  await page.emulateMedia({ media: "print" });
  expect([await page.getByRole("navigation").filter({ visible: true }).count(), await body.isVisible()]).toEqual([0, true]);
  const { x = 999 } = (await body.boundingBox()) ?? {};
  expect(x).toBeLessThan(128);
});

it("a filter that is typed says how it applies, and one that cannot be an id says that the list is as before", async () => {
  const { page } = await openSignedIn({});
  await page.goto(`${url}/developers/events`);
  // With seconds: two events of one minute differ.
  await page.getByRole("cell", { name: /\d\d:\d\d:\d\d/ }).waitFor();
  const field = page.getByRole("textbox", { name: "Record id" });
  await field.fill("PO_1");
  await page.getByText("Press Enter to filter").waitFor();
  await field.press("Enter");
  await page.getByText("The list below is as before.").waitFor();
  expect([await page.getByRole("row").count(), new URL(page.url()).search]).toEqual([2, ""]);
  await field.fill("po_1");
  await field.press("Enter");
  await page.getByText("No events match these filters").waitFor();
  expect(await page.getByText("Press Enter").count()).toBe(0);
  // A list that changes is not as before, whatever was typed.
  await field.fill("PO_1");
  await field.press("Enter");
  await page.getByText("The list below is as before.").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).first().click();
  await page.getByRole("cell", { name: /\d\d:\d\d:\d\d/ }).waitFor();
  expect([await field.inputValue(), await page.getByText("The list below is as before.").count()]).toEqual(["", 0]);
});

it("failed requests show as those of their range until another range's are read", async () => {
  const { page, expectNoProblems } = await openSignedIn({});
  await page.goto(`${url}/developers/requests/failed`);
  await page.getByText("Failed requests per 2 hours").waitFor();
  const held = await hold(page, "**/console/api/requests.failed");
  await page.getByLabel("Time", { exact: true }).selectOption("hour");
  await page.waitForURL("**range=hour**");
  expect(await page.getByText(/^Failed requests per/).allTextContents()).toEqual(["Failed requests per 2 hours"]);
  held.release();
  await page.getByText("Failed requests per minute").waitFor();
  expectNoProblems();
});

it("requests are selected by key, status and route, and the id in an error opens its request", async () => {
  const { page, expectNoProblems } = await openSignedIn({});
  const response = await fetch(`${stack.url}/api/v1/campaigns?limit=0`, {
    headers: { authorization: `Bearer ${brand.key}`, "user-agent": "ledger-sync/2.1 (node)" },
  });
  const { error } = (await response.json()) as { readonly error: { readonly request_id: string } };
  const found = { brand_id: brand.id, request_id: error.request_id };
  await eventually(async () => expect((await owner.call("requests.list", found)).requests).toHaveLength(1));
  await page.goto(`${url}/developers/requests`);
  const rows = page.getByRole("table", { name: "Requests" }).getByRole("row");
  const shown = rows.filter({ hasText: error.request_id });
  await shown.waitFor();
  expect(await rows.count()).toBeGreaterThan(3);
  for (const [label, value] of [
    ["Key", brand.keyId],
    ["Status", "400"],
    ["Request", "GET /api/v1/campaigns"],
  ] as const)
    await page.getByLabel(label, { exact: true }).selectOption(value);
  await eventually(async () => expect(await rows.count()).toBe(2));
  await page.getByRole("button", { name: "Clear filters" }).click();
  await eventually(async () => expect(await rows.count()).toBeGreaterThan(3));

  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /An id/ }).fill(error.request_id);
  await page.getByRole("option", { name: /Open the request/ }).click();
  await page.waitForURL(`**/developers/requests?id=${error.request_id}`);
  await eventually(async () => expect(await rows.count()).toBe(2));
  const cells = await shown.getByRole("cell").allTextContents();
  expect(cells.join(" ")).toMatch(/ ms.*GET \/api\/v1\/campaigns.*400.*invalid_parameter.*ledger-sync/);
  expectNoProblems();
});

const LOADING = "[aria-busy][aria-label=Loading]";

it("what stands for something that is loading is accessible, and fits its width", async () => {
  const opened = await openSignedIn({});
  const { page } = opened;
  await page.route(/console\/api\/(deliveries\.stats|sign_in\.peek)$/, () => {});
  await page.goto(`${url}/developers/receivers`);
  await page.getByRole("link", { name: "Warehouse" }).click();
  await page.locator(LOADING).first().waitFor();
  await expectUsableInEveryView(opened);
  await page.goto(await signInUrl(stack, url, brand.owner));
  await page.locator(LOADING).first().waitFor();
  await expectUsableInEveryView(opened);
});

it("what the plan wizard asks is accessible, and fits its width: problems, unsaved edits, a conflict", async () => {
  const opened = await openSignedIn({});
  const { page } = opened;
  const title = page.getByRole("textbox", { name: "Title" });
  await page.goto(`${url}${planPath}`);
  await title.fill("");
  await page.getByRole("button", { name: "Save and continue" }).click();
  await page.getByText("One thing needs your attention").waitFor();
  await expectUsableInEveryView(opened);
  await page.getByRole("link", { name: "Campaign plans" }).last().click();
  await page.locator(DIALOG).waitFor();
  await expectUsableInEveryView(opened, DIALOG);
  await page.getByRole("button", { name: "Stay" }).click();
  await title.fill("Mine");
  await owner.call("plans.update", { ...planOf(planPath), expected_revision: 1, changes: { title: "Theirs", goal: "Theirs, too" } });
  await page.getByRole("button", { name: "Save and continue" }).click();
  await page.getByText("Choose what to keep").waitFor();
  await expectUsableInEveryView(opened);
  opened.expectNoProblems(400, 409);
});

it("every dialog is accessible, and fits its width", async () => {
  const opened = await openSignedIn({});
  const { page } = opened;
  const openDialog = async (path: string, button: string): Promise<void> => {
    await page.goto(`${url}${path}`);
    await page.getByRole("button", { name: button }).first().click();
    await page.locator(DIALOG).waitFor();
    await expectUsableInEveryView(opened, DIALOG);
  };
  await openDialog("/developers/keys", "Create key");
  await page.getByRole("textbox", { name: "Name" }).fill("For axe");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  await page.getByText("This is the only time the key is shown").waitFor();
  await expectUsableInEveryView(opened, DIALOG);
  await openDialog("/developers/keys", "Revoke For axe");
  // What a person sees while Redis is away. In Manila it is eight hours later.
  const may_be_accepted_until = new Date(Date.now() + 31_000).toISOString();
  await page.route("**/console/api/keys.revoke", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), may_be_accepted_until } });
  });
  await page.getByRole("textbox", { name: /Type the word/ }).fill("revoke");
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.getByRole("dialog", { name: "Key revoked" }).locator(`time[datetime="${may_be_accepted_until}"]`).waitFor();
  await expectUsableInEveryView(opened, DIALOG);
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await openDialog(`/developers/receivers/${receiverId}`, "Send test");
  await page.getByRole("dialog").getByRole("button", { name: "Send test" }).click();
  await page.getByRole("dialog").getByText("Attempt 1", { exact: true }).waitFor();
  await expectUsableInEveryView(opened, DIALOG);
  await openDialog(`/developers/receivers/${disabledId}`, "Send test");
  await openDialog(`/developers/receivers/${disabledId}`, "Enable");
  const settings = `/developers/receivers/${receiverId}/settings`;
  await openDialog(settings, "Disable");
  await openDialog(settings, "Delete receiver");
  await openDialog(settings, "Make the next secret");
  await page.getByText("This is the only time the signing secret is shown").waitFor();
  await page.getByRole("button", { name: "I have stored it" }).click();
  await openDialog(settings, "Replace the next secret");
  await openDialog(settings, "Activate");
  await openDialog("/developers/members", "Add member");
  await page.getByRole("dialog").getByLabel("E-mail address").fill("axe@example.ph");
  await page.getByRole("dialog").getByRole("button", { name: "Add member" }).click();
  await page.getByText("axe@example.ph is a member now").waitFor();
  await expectUsableInEveryView(opened, DIALOG);
  await page.getByRole("dialog").getByRole("button", { name: "Make link" }).click();
  await page.getByText("This is the only time the link is shown").waitFor();
  await expectUsableInEveryView(opened, DIALOG);
  await openDialog("/developers/members", "Change role: axe@example.ph");
  await openDialog("/developers/members", "Remove: axe@example.ph");
  await openDialog("/developers", brand.owner);
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await page.getByRole("button", { name: "Sign out of all" }).waitFor();
  await expectUsableInEveryView(opened, DIALOG);
  await openDialog(planPath, "Cancel plan");
  opened.expectNoProblems();
});

it("a refusal in a dialog gives the focus to its field", async () => {
  const { page, expectNoProblems } = await openSignedIn({});
  const dialog = page.getByRole("dialog");
  const expectRefused = async (path: string, open: string, press: string, problem: string): Promise<void> => {
    await page.goto(`${url}${path}`);
    await page.getByRole("button", { name: open }).first().click();
    await dialog.getByRole("button", { name: press }).click();
    await dialog.getByText(problem).waitFor();
    await dialog.locator("input:focus").waitFor();
    const described = await page.evaluate<string>(
      "document.activeElement.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id)?.textContent).join()",
    );
    expect(described).toContain(problem);
  };
  await expectRefused("/developers/keys", "Create key", "Create key", "Must not be empty");
  await expectRefused("/developers/keys", "Revoke", "Revoke key", "This is not the ");
  await expectRefused("/developers/members", "Add member", "Add member", "Must be an e-mail address");
  const settings = `/developers/receivers/${disabledId}/settings`;
  await expectRefused(settings, "Delete receiver", "Delete receiver", "This is not the receiver’s label.");
  await page.goto(`${url}/developers/receivers/new`);
  await page.getByRole("textbox", { name: "URL" }).fill("https://receiver.example/");
  await page.getByRole("textbox", { name: "Label" }).fill("Ledger");
  for (const event of await page.getByRole("checkbox").all()) await event.uncheck();
  await page.getByRole("button", { name: "Register receiver" }).click();
  await page.getByText("Must name at least one").waitFor();
  await page.locator("input[type=checkbox]:focus").waitFor();
  expectNoProblems(400);
});

it("a copy that the browser refuses shows as refused, not as made", async () => {
  const { page, expectNoProblems } = await openSignedIn({});
  await page.addInitScript(`Object.defineProperty(navigator, "clipboard", {
    value: { writeText: () => (globalThis.mayCopy ? Promise.resolve() : Promise.reject(new Error("refused"))) },
  });`);
  const refusal = page.getByText("Could not copy. Select the text.");
  const press = async (name: string): Promise<void> => {
    const before = await refusal.count();
    await page.getByRole("button", { name }).first().click();
    // In the place of the button, and in the region that is read out.
    await refusal.nth(Math.max(before, 1)).waitFor();
    expect(await page.getByText("Copied").count()).toBe(0);
  };
  await page.goto(`${url}/developers/deliveries/${deliveryId}`);
  await press("Copy the delivery’s id");
  await press("Copy as sent");
  await page.goto(`${url}/developers/keys`);
  await page.getByRole("button", { name: "Create key" }).first().click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("For the clipboard");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  await press("Copy: The key");
  expect(await page.getByRole("dialog").getByText("Could not copy. Select the text.").isVisible()).toBe(true);
  await page.evaluate("globalThis.mayCopy = true");
  await page.getByRole("button", { name: "Copy: The key" }).click();
  await page.locator("[role=status]").getByText("Copied").waitFor({ state: "attached" });
  expect(await refusal.count()).toBe(0);
  expectNoProblems();
});

it("a page that is reloaded shows the place where it was", async () => {
  const { page, expectNoProblems } = await openSignedIn({ viewport: { width: 360, height: 400 } });
  await openWithFirstReads(page, `${url}/developers/receivers/${receiverId}`);
  await page.getByText("payout.paid (test)").first().waitFor();
  await page.evaluate("scrollTo(0, 300)");
  await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");
  await page.reload();
  await page.getByText("payout.paid (test)").first().waitFor();
  await eventually(async () => expect(await page.evaluate("scrollY")).toBe(300));
  expectNoProblems();
});

/** Runs in the page: what waits for a timer of a tenth to a third of a second waits for ever. */
const WITHOUT_WAITS = `const start = globalThis.setTimeout;
globalThis.setTimeout = (run, ms, ...rest) => (ms > 100 && ms <= 300 ? 0 : start(run, ms, ...rest));`;

it("a dialog waits for nothing but its file, and stays if it was opened by a double click", async () => {
  const { page, expectNoProblems } = await openSignedIn({});
  await page.addInitScript(WITHOUT_WAITS);
  await page.goto(`${url}/developers/members`);
  await page.getByRole("button", { name: "Add member" }).dblclick();
  await page.getByLabel("E-mail address").waitFor();
  // What its first opening has loaded is there at once.
  await page.keyboard.press("Escape");
  await page.locator(DIALOG).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Add member" }).dblclick();
  await page.getByLabel("E-mail address").fill("jun@example.com");
  expect(await page.locator(DIALOG).count()).toBe(1);
  expectNoProblems();
});

it("the search does not open over a dialog, where closing it would lose what is typed", async () => {
  const { page, expectNoProblems } = await openSignedIn({});
  await page.goto(`${url}/developers/keys`);
  await page.getByRole("button", { name: "Create key" }).first().waitFor();
  // Once it was opened, it opens at once.
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("option").first().waitFor();
  await page.keyboard.press("Escape");
  await page.locator(DIALOG).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Create key" }).first().click();
  const name = page.getByRole("dialog").getByRole("textbox", { name: "Name" });
  await name.fill("Typed");
  await name.press("Control+k");
  await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");
  expect([await page.locator(DIALOG).count(), await name.inputValue()]).toEqual([1, "Typed"]);
  await name.and(page.locator(":focus")).waitFor();
  expectNoProblems();
});

it("the keyboard alone signs in, creates a key, filters, changes ranges and tabs, and signs out; the focus follows", async () => {
  const { page, expectNoProblems } = await browser.open();
  const hand = keyboardOf(page);
  const link = (name: string | RegExp): Promise<void> => hand.press(page.getByRole("link", { name }).first());
  // The link is pasted into a tab that shows the page already: only the fragment changes.
  await page.goto(`${url}/sign-in`);
  await page.getByText("Each works once").waitFor();
  await page.goto(await signInUrl(stack, url, brand.owner));
  await hand.press(page.getByRole("button", { name: /^Sign in as/ }));
  await page.waitForURL("**/developers");
  await page.getByText("Create an API key").waitFor();
  await link("API keys");
  await page.getByRole("heading", { level: 1, name: "API keys" }).and(page.locator(":focus")).waitFor();
  await hand.press(page.getByRole("button", { name: "Create key" }));
  await page.getByRole("dialog").locator("input:focus").waitFor();
  await page.keyboard.type("By keyboard");
  await page.keyboard.press("Enter");
  await page.getByText("This is the only time the key is shown").waitFor();
  await hand.press(page.getByRole("button", { name: "I have stored it" }));
  await page.getByRole("row", { name: /^By keyboard .*No use recorded/ }).waitFor();

  await link("Receivers");
  await link("Warehouse");
  await hand.select(page.getByLabel("State"), "Failed");
  await page.waitForURL("**state=failed");
  await page.getByText("No deliveries match").waitFor();
  await hand.press(page.getByRole("button", { name: "Clear filters" }));
  await page.waitForURL(({ search }) => search === "");
  const tests = page.getByRole("link", { name: "payout.paid (test)" });
  await tests.first().waitFor();
  await hand.type(page.getByRole("textbox", { name: "Event id" }), event?.id ?? "");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**event=${event?.id}`);
  await eventually(async () => expect(await tests.count()).toBe(0));
  await link("payout.paid");
  await page.getByRole("heading", { level: 2, name: "Attempts" }).waitFor();

  await link("Usage");
  await link("Last hour");
  await page.waitForURL("**range=hour");
  await link("Requests");
  await hand.press(page.getByRole("link", { name: "What failed, by error" }));
  await hand.press(page.getByText("Last 2 request ids"));
  await page.getByText("w".repeat(64)).waitFor();
  await link("Assistants");
  await hand.press(page.getByRole("tab", { selected: true }));
  await page.keyboard.press("ArrowRight");
  await page.waitForURL("**client=*");
  await link("Audit log");
  await hand.select(page.getByLabel("Action"), "Register a receiver");
  await page.waitForURL("**action=receiver.create");

  await hand.press(page.getByRole("button", { name: brand.owner }));
  await hand.choose(page.getByRole("radio", { name: "Dark" }));
  await hand.press(page.getByRole("button", { name: "Sign out", exact: true }));
  await page.waitForURL("**/sign-in*");
  expectNoProblems();
});

it("the search opens what an id or a name finds, by the keyboard alone, from within a field too", async () => {
  const opened = await openSignedIn({});
  const { page } = opened;
  const finds: readonly (readonly [text: string, path: string])[] = [
    ["api key", "/developers/keys"],
    [brand.keyId.toUpperCase(), `/developers/keys?key=${brand.keyId}`],
    [` ${event?.id} `, `/developers/events/${event?.id}`],
    [deliveryId, `/developers/deliveries/${deliveryId}`],
    [receiverId, `/developers/receivers/${receiverId}`],
    ["dashboard old", `/developers/receivers/${disabledId}`],
    [planOf(planPath).plan_id, planPath],
    ["po_01h455vb4pex5vsknk084sn02q", "/developers/events?record_id=po_01h455vb4pex5vsknk084sn02q"],
    ["dlv_unknown", "/developers/deliveries/dlv_unknown"],
  ];
  await page.goto(`${url}/developers/events`);
  await page.getByRole("textbox", { name: "Record id" }).focus();
  for (const [index, [text, path]] of finds.entries()) {
    await page.keyboard.press(index % 2 === 0 ? "Control+k" : "Meta+k");
    await page.getByLabel("An id, or the name of").and(page.locator(":focus")).waitFor();
    await page.keyboard.type(text);
    await page.getByRole("dialog").getByRole("option").first().waitFor();
    await page.getByRole("dialog").getByRole("option", { selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`${url}${path}`);
    await page.locator(DIALOG).waitFor({ state: "detached" });
  }
  await page.getByText("Nothing is here").waitFor();

  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("option").first().waitFor();
  await expectUsableInEveryView(opened, DIALOG);
  await page.keyboard.type("zebra");
  await page.getByText("Nothing is found").waitFor();
  await expectUsableInEveryView(opened, DIALOG);
  await page.keyboard.press("Escape");
  await page.locator(DIALOG).waitFor({ state: "detached" });
  opened.expectNoProblems(404);
});
