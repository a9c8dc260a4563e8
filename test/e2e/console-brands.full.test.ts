import { OPERATIONS } from "@brand-records/console-contract";
import { eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import type { Page, Request } from "playwright-core";
import type { TestBrowser } from "../browser.ts";
import { hold, returnToTab, withConsole } from "../console.ts";
import { CONSOLE_CHANGES, makeReceiver, preparePlan, type Change, type ShownBrand } from "../console-changes.ts";
import { enter, openAs, signIn, type ConsoleCaller } from "../console-calls.ts";
import { keyboardOf, pointer, type Hand } from "../hands.ts";
import { publishEvents } from "../publish-events.ts";
import { startReceivers, type ReceiverServer } from "../receivers.ts";
import { callContext, type Stack } from "../stack.ts";

/**
 * Two promises: a tab of the console shows one brand, and changes no other, whatever happens to the person's memberships meanwhile; and what
 * shows once reaches the person who had it made.
 */

let stack: Stack;
let browser: TestBrowser;
let receivers: ReceiverServer;
let url: string;
/** Sorted by name, as people's brands are: a person of the last two is added to the first while tabs show the others. */
let alapaap: ShownBrand;
let mabini: ShownBrand;
let zamora: ShownBrand;

// Before the stack stops.
afterAll(() => receivers?.stop());
// These people sign in more than 30 times a minute from one address on a quick machine.
const ENV_OF = { webhook: { RECEIVERS_ON_LOOPBACK: "true" }, console: { SIGN_INS_PER_ADDRESS: "300" } };
withConsole({ envOf: ENV_OF }, async (started) => {
  ({ stack, browser, url } = started);
  receivers = await startReceivers(() => [204]);
  [alapaap, mabini, zamora] = await Promise.all([createBrand("Alapaap"), createBrand("Mabini"), createBrand("Zamora")]);
});

async function createBrand(name: string): Promise<ShownBrand> {
  const id = newId("brd");
  const email = `owner@${id.slice(4)}.example`;
  await stack.accounts.createBrand({ id, name, tier: "plus", verified: true }, callContext());
  await add({ id }, email);
  const owner = await signIn(stack, url, email);
  await publishEvents(stack, id, [{ type: "payout.paid", at: Date.now() - 60_000 }]);
  const { secret } = await owner.call("keys.create", { brand_id: id, name: "Planner", may_prepare: true });
  return {
    id,
    name,
    owner,
    key: secret,
    gatewayUrl: stack.url,
    receiverUrl: receivers.url,
  };
}

const newEmail = (): string => `ana@${newId("test").slice(5)}.example`;
const add = ({ id }: Pick<ShownBrand, "id">, email: string, role = "owner") =>
  stack.accounts.addMember({ brand_id: id, email, role }, callContext());
const remove = ({ id }: ShownBrand, email: string) => stack.accounts.removeMember({ brand_id: id, email }, callContext());

/** An owner of the brands. */
async function person(...brands: readonly ShownBrand[]): Promise<{ readonly email: string; readonly caller: ConsoleCaller }> {
  const email = newEmail();
  for (const brand of brands) await add(brand, email);
  return { email, caller: await signIn(stack, url, email) };
}

/** What the person did in a brand, or tried: what the audit log has but sign-ins and sign-outs, which are of all brands. */
async function auditOf(
  { id: brand_id }: ShownBrand,
  actor: string,
): Promise<(readonly [action: string, outcome: string | null | undefined])[]> {
  const filter = { brand_id, actor, action: null, from: null, to: null, page_size: 0, page_token: null };
  const { entries } = await stack.audit.listAudit(filter, callContext());
  const changes = entries.filter(({ action }) => !action.startsWith("session."));
  return changes.map(({ action, outcome }) => [action, outcome] as const);
}

async function keysBy({ id: brand_id, owner }: ShownBrand, email: string): Promise<string[]> {
  const { keys } = await owner.call("keys.list", { brand_id });
  return keys.filter(({ created_by }) => created_by === email).map(({ name }) => name);
}

const switcher = (page: Page) => page.locator("select[aria-label=Brand]");

/** The brands that the calls of a page name from now on. */
function brandsNamed(page: Page): ReadonlySet<string> {
  const named = new Set<string>();
  page.on("request", (request) => {
    if (!request.url().includes("/console/api/")) return;
    const { brand_id } = request.postDataJSON() as { readonly brand_id?: string };
    if (brand_id !== undefined) named.add(brand_id);
  });
  return named;
}

/** Resolves when the page waits for no answer: one that was asked for earlier may still come with what is changed next. */
async function whenAnswered(page: Page, asked: ReadonlySet<Request>): Promise<void> {
  // What has just been drawn asks in the next turn.
  await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");
  await eventually(() => expect([...asked].map((request) => request.url())).toEqual([]));
}

/** The calls of a page that wait for an answer, from now on. */
function unansweredCalls(page: Page): ReadonlySet<Request> {
  const asked = new Set<Request>();
  page.on("request", (request) => request.url().includes("/console/api/") && asked.add(request));
  page.on("requestfinished", (request) => asked.delete(request));
  page.on("requestfailed", (request) => asked.delete(request));
  return asked;
}

/** Returns to the page's tab, as it were, until it has read that the person is a member of these brands. */
const expectKnown = (page: Page, ...brands: readonly ShownBrand[]): Promise<void> =>
  eventually(
    async () => {
      await returnToTab(page);
      expect(await switcher(page).locator("option").allTextContents()).toEqual(brands.map(({ name }) => name));
    },
    { everyMs: 200 },
  );

const leftHeading = (page: Page, { name }: ShownBrand) =>
  page.getByRole("heading", { level: 1, name: `You are no longer a member of ${name}`, exact: true });

it("an open dialog makes the key for the brand of its page, though the person was added to a brand that sorts earlier", async () => {
  const { email, caller } = await person(mabini);
  const { page, expectNoProblems } = await openAs(browser, url, caller);
  await page.goto(`${url}/developers/keys`);
  await page.getByRole("button", { name: "Create key" }).first().click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill(`Of ${email}`);
  await add(alapaap, email);
  await expectKnown(page, alapaap, mabini);
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  await page.getByText("This is the only time the key is shown").waitFor();
  expect([await keysBy(alapaap, email), await keysBy(mabini, email)]).toEqual([[], [`Of ${email}`]]);
  expectNoProblems();
});

it("the table of changes has every operation that changes something of a brand", () => {
  const changes = Object.entries(OPERATIONS)
    .filter(([name, { needs }]) => needs === "member" && !/\.(list|get|stats|count|latest|failed)$/.test(name))
    .map(([name]) => name);
  expect(Object.keys(CONSOLE_CHANGES).toSorted()).toEqual(changes.toSorted());
});

describe("two tabs, two brands: the person is added to a brand that sorts earlier, and removed from the brand of the second tab", () => {
  // Both hands do everything, and either is accepted as often as it is refused.
  const rows = Object.entries(CONSOLE_CHANGES).map(
    ([name, change], row) => [name, row % 2 === 0 ? "keyboard" : "pointer", change] as const,
  );
  it.each(rows)(
    "%s, in one tab by the keyboard alone, is made for the brand that its tab shows (by the %s), or refused",
    async (name, accepted, change: Change) => {
      const { email, caller } = await person(mabini, zamora);
      const first = await openAs(browser, url, caller);
      const hand = accepted === "keyboard" ? keyboardOf(first.page) : pointer;
      await openForm(first.page, hand, change, mabini, email);
      const second = await first.page.context().newPage();
      const asked = unansweredCalls(second);
      const otherHand = accepted === "keyboard" ? pointer : keyboardOf(second);
      // A link to a record shows its brand by itself.
      if (change.isOfList) {
        await second.goto(`${url}/developers/members`);
        await switcher(second).selectOption({ label: zamora.name });
        await second.getByText(`Showing ${zamora.name}`).waitFor({ state: "attached" });
      }
      await openForm(second, otherHand, change, zamora, email);
      const [ofFirst, ofSecond] = [brandsNamed(first.page), brandsNamed(second)];
      await whenAnswered(second, asked);
      // A page that reads by itself would notice first: each part that loads late reads who the person is.
      await second.route(/console\/api\/.*\.(list|get|stats|count|latest|failed)$/, () => {});
      const { promise: isSent, resolve: release } = Promise.withResolvers<void>();
      await second.route("**/console/api/session.me", (route) => isSent.then(() => route.continue()));
      const sent = second.waitForRequest(`**/console/api/${name}`);

      await add(alapaap, email);
      await remove(zamora, email);
      await Promise.all([change.submit(second, otherHand), sent.then(() => release())]);
      await leftHeading(second, zamora).waitFor();
      await second.getByRole("button", { name: `Show ${mabini.name}` }).waitFor();
      expect([await second.getByRole("dialog").count(), await second.getByRole("navigation").count()]).toEqual([0, 0]);

      await expectKnown(first.page, alapaap, mabini);
      const [response] = await Promise.all([first.page.waitForResponse(`**/console/api/${name}`), change.submit(first.page, hand)]);
      expect(response.status()).toBe(200);
      // What only the page takes for something to change is no change.
      const made = change.fake === undefined ? [[change.action, "done"]] : [];
      await eventually(async () => expect(await auditOf(mabini, email)).toEqual(made));
      expect([await auditOf(alapaap, email), await auditOf(zamora, email)]).toEqual([[], []]);
      expect([[...ofFirst], [...ofSecond].filter((id) => id !== zamora.id)]).toEqual([[mabini.id], []]);
      first.expectNoProblems();
    },
  );

  /** Up to the last press. A dialog says for which brand it is. */
  async function openForm(page: Page, hand: Hand, change: Change, brand: ShownBrand, email: string): Promise<void> {
    await change.fake?.(page);
    await page.goto(url + (await change.make(brand, email)));
    await page.getByRole("heading", { level: 1 }).waitFor();
    await change.fill(page, hand, email);
    if (change.hasDialog) await page.getByRole("dialog").getByText(`Brand: ${brand.name}`).waitFor();
  }
});

/** The form is open, and its brand is the tab's. */
async function openCreateKey(page: Page, brand: ShownBrand): Promise<void> {
  await page.goto(`${url}/developers/keys`);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("dialog").getByText(`Brand: ${brand.name}`).waitFor();
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Looker report");
}

const shownName = (page: Page): Promise<string> => switcher(page).locator("option:checked").innerText();

describe("which brand a tab shows", () => {
  it("stays after a reload and in a tab beside it; a new tab begins with the one last chosen, or else with the first", async () => {
    const { email, caller } = await person(alapaap, mabini, zamora);
    const { page, expectNoProblems } = await openAs(browser, url, caller);
    await page.goto(`${url}/developers/keys`);
    expect(await shownName(page)).toBe(alapaap.name);
    const beside = await page.context().newPage();
    await beside.goto(`${url}/developers/keys`);
    await switcher(beside).focus();
    await switcher(beside).selectOption({ label: zamora.name });
    await beside.getByText(`Showing ${zamora.name}`).waitFor({ state: "attached" });
    // The keyboard can go on to the next brand.
    expect(await beside.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Brand");
    await page.reload();
    await page.getByRole("button", { name: "Create key" }).waitFor();
    const third = await page.context().newPage();
    await third.goto(`${url}/developers/keys`);
    expect([await shownName(page), await shownName(beside), await shownName(third)]).toEqual([alapaap.name, zamora.name, zamora.name]);
    await remove(zamora, email);
    const fourth = await page.context().newPage();
    await fourth.goto(`${url}/developers/keys`);
    expect(await shownName(fourth)).toBe(alapaap.name);
    expectNoProblems();
  });

  it("is asked for after a removal, also by a reload, and stays as chosen", async () => {
    const { email, caller } = await person(mabini, zamora);
    const { page, expectNoProblems, expectAccessible } = await openAs(browser, url, caller);
    await page.goto(`${url}/developers/keys`);
    await page.getByRole("button", { name: "Create key" }).waitFor();
    await add(alapaap, email);
    await remove(mabini, email);
    await page.reload();
    await leftHeading(page, mabini).waitFor();
    await expectAccessible();
    await page.getByRole("link", { name: "Brand Records" }).click();
    await page.waitForURL("**/developers");
    await leftHeading(page, mabini).waitFor();
    await page.getByRole("button", { name: `Show ${zamora.name}` }).click();
    await page.getByText("Connect your own systems").waitFor();
    expect(await shownName(page)).toBe(zamora.name);
    await openCreateKey(page, zamora);
    await add(mabini, email);
    await expectKnown(page, alapaap, mabini, zamora);
    expect(await shownName(page)).toBe(zamora.name);
    expectNoProblems();
  });

  it("is that of the record which a link leads to, in this tab alone", async () => {
    const { email, caller } = await person(mabini, zamora);
    const { page, expectNoProblems } = await openAs(browser, url, caller);
    await page.goto(`${url}/developers/keys`);
    expect(await shownName(page)).toBe(mabini.name);
    const beside = await page.context().newPage();
    const named = brandsNamed(beside);
    await beside.goto(`${url}/developers/receivers/${(await makeReceiver(zamora)).receiver_id}`);
    await beside.getByRole("button", { name: "Send test" }).click();
    await beside.getByRole("dialog").getByText(`Brand: ${zamora.name}`).waitFor();
    await beside.getByRole("dialog").getByRole("button", { name: "Send test" }).click();
    await eventually(async () => expect(await auditOf(zamora, email)).toEqual([["receiver.test", "done"]]));
    expect([...named]).toEqual([zamora.id]);
    await openCreateKey(page, mabini);
    expectNoProblems();
  });

  it("is that of the key which a link leads to; for one that none of the person's brands has, the page says so", async () => {
    const { caller } = await person(mabini, zamora);
    const { page, expectNoProblems } = await openAs(browser, url, caller);
    const [key] = (await zamora.owner.call("keys.list", { brand_id: zamora.id })).keys;
    await page.goto(`${url}/developers/keys`);
    await page.getByRole("button", { name: "Create key" }).waitFor();
    expect(await shownName(page)).toBe(mabini.name);
    const unknown = page.getByText("None of this brand’s keys has the id");
    const find = async (id: string): Promise<void> => {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("combobox").fill(id);
      await page.getByRole("dialog").getByRole("option", { name: id }).waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/developers/keys?key=${id}`);
    };
    await find(key?.id ?? "");
    await page.locator("tr[aria-current]").waitFor();
    expect([await shownName(page), await unknown.count()]).toEqual([zamora.name, 0]);
    await find("key_unknown");
    await unknown.waitFor();
    expect([await shownName(page), await page.locator("tr[aria-current]").count()]).toEqual([zamora.name, 0]);
    expectNoProblems(404);
  });

  it("is that which a link in mail names, whose switches it leads to", async () => {
    const { caller } = await person(alapaap, zamora);
    const { page, expectNoProblems } = await openAs(browser, url, caller);
    await page.goto(`${url}/developers/mail?brand=${zamora.id}`);
    await page.getByRole("heading", { name: "Mail about Zamora" }).waitFor();
    await page.getByRole("switch", { name: "Receivers" }).click();
    const receivers = async ({ id }: ShownBrand) => (await caller.call("mail.get", { brand_id: id })).receivers;
    await eventually(async () => expect([await receivers(alapaap), await receivers(zamora)]).toEqual([true, false]));
    expectNoProblems();
  });

  it("is the one that the search finds by its name, on the list that the page belongs to", async () => {
    const { caller } = await person(mabini, zamora);
    const { page, expectNoProblems } = await openAs(browser, url, caller);
    await page.goto(`${url}/developers/keys`);
    await page.getByRole("button", { name: "Create key" }).waitFor();
    await page.keyboard.press("Meta+k");
    await page.getByRole("dialog").getByRole("combobox").fill(zamora.name);
    await page.getByRole("dialog").getByRole("option", { name: zamora.name, selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await eventually(async () => expect(await shownName(page)).toBe(zamora.name));
    expect(new URL(page.url()).pathname).toBe("/developers/keys");
    await openCreateKey(page, zamora);
    expectNoProblems();
  });

  it("does not change with a link that the person has given up", async () => {
    const { caller } = await person(mabini, zamora);
    const { page, expectNoProblems } = await openAs(browser, url, caller);
    await page.goto(`${url}/developers/receivers/${(await makeReceiver(zamora)).receiver_id}`);
    await page.getByRole("link", { name: "API keys" }).click();
    await switcher(page).selectOption({ label: mabini.name });
    await page.getByText(`Showing ${mabini.name}`).waitFor({ state: "attached" });
    await page.reload();
    await page.getByRole("button", { name: "Create key" }).waitFor();
    const held = await hold(page, "**/console/api/session.locate");
    await page.evaluate("history.go(-2)");
    await held.asked;
    await page.getByRole("link", { name: "Members" }).click();
    await page.getByRole("button", { name: "Add member" }).click();
    const located = page.waitForResponse("**/console/api/session.locate");
    held.release();
    await (await located).finished();
    await expectKnown(page, mabini, zamora);
    await page.getByRole("dialog").getByText(`Brand: ${mabini.name}`).waitFor();
    expectNoProblems();
  });

  it("stays, and so does the frame, if the brand of a link cannot be found now; another try finds it", async () => {
    const { caller } = await person(mabini, zamora);
    const { page } = await openAs(browser, url, caller);
    const { receiver_id } = await makeReceiver(zamora);
    await page.goto(`${url}/developers/keys`);
    await page.getByRole("button", { name: "Create key" }).waitFor();
    const error = { code: "service_unavailable_for_now", message: "Webhook is away.", request_id: "req_1", details: [] };
    await page.route("**/console/api/session.locate", (route) => route.fulfill({ status: 400, json: { error } }));
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill(receiver_id);
    await page.getByRole("dialog").getByRole("option", { name: receiver_id }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("main").getByRole("alert").getByText(error.message).waitFor();
    expect(await shownName(page)).toBe(mabini.name);
    await page.unroute("**/console/api/session.locate");
    await page.getByRole("main").getByRole("button", { name: "Try again" }).click();
    await page.getByRole("button", { name: "Send test" }).waitFor();
    expect(await shownName(page)).toBe(zamora.name);
  });

  it("changes under no open dialog: what loads slowly closes it", async () => {
    const { caller } = await person(mabini, zamora);
    const { page, expectNoProblems } = await openAs(browser, url, caller);
    await page.goto(`${url}/developers/receivers/${(await makeReceiver(zamora)).receiver_id}`);
    await page.getByRole("link", { name: "Members" }).click();
    await switcher(page).selectOption({ label: mabini.name });
    await page.getByText(`Showing ${mabini.name}`).waitFor({ state: "attached" });
    await page.reload();
    const held = await hold(page, "**/assets/receiver-*.js");
    await page.getByRole("button", { name: "Add member" }).click();
    await page.getByRole("dialog").getByText(`Brand: ${mabini.name}`).waitFor();
    await page.evaluate("history.go(-2)");
    await eventually(async () => expect(await shownName(page)).toBe(zamora.name));
    expect(await page.getByRole("dialog").count()).toBe(0);
    held.release();
    await page.getByRole("heading", { level: 1, name: "Warehouse" }).waitFor();
    expectNoProblems();
  });

  it("stays with unsaved edits, also if the person chose another one first", async () => {
    const { email, caller } = await person(mabini, zamora);
    const { page, expectNoProblems } = await openAs(browser, url, caller);
    await page.goto(url + (await preparePlan(zamora)));
    await page.getByRole("textbox", { name: "Title" }).fill("Ulan at araw");
    await switcher(page).selectOption({ label: mabini.name });
    await page.getByRole("dialog", { name: "Save your edits?" }).getByRole("button", { name: "Stay" }).click();
    await page.getByRole("button", { name: "Save and continue" }).click();
    await page.getByRole("heading", { level: 2, name: "Budget" }).waitFor();
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByRole("button", { name: "Create key" }).waitFor();
    expect(await shownName(page)).toBe(zamora.name);
    await eventually(async () => expect(await auditOf(zamora, email)).toEqual([["plan.update", "done"]]));
    expect(await auditOf(mabini, email)).toEqual([]);
    expectNoProblems();
  });
});

it("a person who signed in in another tab makes no change in a page of the person before, and sees nothing of it", async () => {
  const [before, now] = [await person(mabini, zamora), await person(alapaap, mabini)];
  const { page, expectNoProblems, expectAccessible } = await openAs(browser, url, before.caller);
  await openCreateKey(page, mabini);
  await enter(page, url, now.caller);
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  await page.getByRole("heading", { level: 1, name: `${now.email} is signed in now` }).waitFor();
  await page.getByText(`To go on with it, sign in as ${before.email}`).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  await expectAccessible();
  for (const { email } of [before, now]) expect(await auditOf(mabini, email)).toEqual([]);
  await page.getByRole("button", { name: `Continue as ${now.email}` }).click();
  await page.getByRole("button", { name: "Create key" }).waitFor();
  // The person's own choice decides, not the other's.
  expect(await shownName(page)).toBe(alapaap.name);
  expectNoProblems(409);
});

it("on a narrow screen the header names the brand, and no name is too long for it, for a dialog, or for the page after a removal", async () => {
  const [spaced, unbroken] = await Promise.all([
    createBrand("Ang Pinakamahabang Pangalan ".repeat(8).slice(0, 199)),
    createBrand("W".repeat(200)),
  ]);
  for (const brand of [spaced, unbroken]) {
    const { email, caller } = await person(brand, mabini);
    const { page, expectNoProblems, expectAccessible } = await openAs(browser, url, caller, { viewport: { width: 360, height: 740 } });
    const expectFits = async (): Promise<void> => {
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await expectAccessible();
    };
    const ofBrand = { brand_id: brand.id };
    const longLabel = { url: `${brand.receiverUrl}long`, label: "R".repeat(80), events: ["payout.paid"] };
    const { receiver } = await brand.owner.call("receivers.create", { ...ofBrand, ...longLabel });
    const test = { ...ofBrand, receiver_id: receiver.id, type: "payout.paid", next: false };
    const { delivery_id } = await brand.owner.call("receivers.test", test);
    await brand.owner.call("receivers.disable", { ...ofBrand, receiver_id: receiver.id });
    await stack.accounts.setBrandVerified({ brand_id: brand.id, verified: false }, callContext());
    for (const [path, text] of [
      [`/developers/deliveries/${delivery_id}`, "is disabled."],
      ["/developers", "Have a test delivery accepted"],
      ["/developers/usage", "is not verified."],
    ] as const) {
      await page.goto(url + path);
      await page.getByText(text).first().waitFor();
      expect([path, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, 360]);
    }
    await stack.accounts.setBrandVerified({ brand_id: brand.id, verified: true }, callContext());
    await page.goto(`${url}/developers/receivers/${(await makeReceiver(brand)).receiver_id}`);
    await page.getByRole("heading", { level: 1, name: "Warehouse" }).waitFor();
    const shown = page.getByRole("banner").getByText(brand.name.trim());
    await shown.waitFor();
    // One line, cut off; whole as its title and for those who hear it.
    const account = await page.getByRole("banner").getByRole("button", { name: email }).boundingBox();
    expect((account?.x ?? 0) + (account?.width ?? Infinity)).toBeLessThanOrEqual(360 - 16);
    expect([((await shown.boundingBox())?.height ?? 0) < 32, await shown.getAttribute("title")]).toEqual([true, brand.name]);
    await expectFits();
    await openCreateKey(page, brand);
    const { x = 0, width = Infinity } = (await page.getByRole("dialog").boundingBox()) ?? {};
    expect([x >= 0, x + width <= 360]).toEqual([true, true]);
    expect(
      await page.evaluate("(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('[role=dialog]'))"),
    ).toBe(true);
    await expectFits();
    await remove(brand, email);
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: `Show ${mabini.name}` }).waitFor();
    await expectFits();
    expectNoProblems(404);
  }
});

/** Whether closing the tab would be asked about. */
const asksBeforeUnload = (page: Page): Promise<boolean> =>
  page.evaluate("!globalThis.dispatchEvent(new Event('beforeunload', { cancelable: true }))");

/** Runs in the page: a wait of this length never ends, so what shows has not waited for it. */
const WITHOUT_LONG_WAITS = `const start = globalThis.setTimeout;
globalThis.setTimeout = (run, ms, ...rest) => (ms === 5_000 ? 0 : start(run, ms, ...rest));`;

const MAKERS = ["keys.create", "receivers.create", "receivers.rotate", "members.link"] as const;

it.each(MAKERS)("%s: the page stays until its secret shows, which waits for no list", async (name) => {
  const change: Change = CONSOLE_CHANGES[name];
  const brand = await createBrand("Sampaguita");
  const { email, caller } = await person(brand);
  const { page, expectNoProblems } = await openAs(browser, url, caller);
  await page.addInitScript(WITHOUT_LONG_WAITS);
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
});
