import { openPool, type Database } from "@brand-records/postgres";
import { eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import type { Page, Route } from "playwright-core";
import { Webhook } from "standardwebhooks";
import type { TestBrowser, TestPage } from "../browser.ts";
import { hold, isInView, returnToTab, withConsole } from "../console.ts";
import { enter, openAs, signIn, type ConsoleCaller } from "../console-calls.ts";
import { keyboardOf } from "../hands.ts";
import { publishEvents } from "../publish-events.ts";
import { approveNew } from "../submissions.ts";
import { startReceivers, type ReceiverServer } from "../receivers.ts";
import { callContext, type Stack, type TestBrand } from "../stack.ts";

/** One promise: an owner runs a receiver in the browser from its first setting to its deletion, and sees what happens as it happens. */

let stack: Stack;
let browser: TestBrowser;
let db: Database;
let url: string;
let server: ReceiverServer;
/** Receivers by path. Each responds 204 to what one of these secrets signs, if there are any; else with the status. */
const receivers = new Map<string, { status: number; secrets: string[] }>();

// Before the stack stops.
afterAll(async () => {
  await db?.stop();
  server?.stop();
});
const ENV_OF = { webhook: { RECEIVERS_ON_LOOPBACK: "true", RETRY_DELAYS_SECONDS: "0.1" } };
withConsole({ envOf: ENV_OF }, async (started) => {
  ({ stack, browser, url } = started);
  server = await startReceivers(({ url: path, headers, body }) => {
    const { status = 204, secrets = [] } = receivers.get(path) ?? {};
    const isVerified = secrets.length === 0 || secrets.some((secret) => isSignedBy(secret, body, headers as Record<string, string>));
    return isVerified ? [status] : [401, "no signature by a known secret"];
  });
  db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
});

function isSignedBy(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

const urlOf = (path: string): string => server.url + path.slice(1);

interface Registered {
  readonly brand: TestBrand;
  readonly owner: ConsoleCaller;
  readonly receiverId: string;
  readonly secret: string;
  readonly path: string;
}

/** A brand with one receiver, which selects approvals. */
async function register(status = 204): Promise<Registered> {
  const brand = await stack.createBrand();
  const owner = await signIn(stack, url, brand.owner);
  const path = `/${newId("hook")}`;
  receivers.set(path, { status, secrets: [] });
  const settings = { url: urlOf(path), label: "Warehouse", events: ["submission.approved"] };
  const { receiver, secret } = await owner.call("receivers.create", { brand_id: brand.id, ...settings });
  return { brand, owner, receiverId: receiver.id, secret, path };
}

/** Holds a lock while a browser works, which may take longer than our pools leave a transaction idle. */
const whileLocked = (lock: string, values: string[], work: () => Promise<void>): Promise<void> =>
  db.transaction(async (sql) => {
    await sql.query("set local idle_in_transaction_session_timeout = 0");
    await sql.query(lock, values);
    await work();
  });

async function open({ owner, receiverId }: Registered, tab = ""): Promise<TestPage> {
  const opened = await openAs(browser, url, owner);
  await opened.page.goto(`${url}/developers/receivers/${receiverId}${tab}`);
  await opened.page.getByRole("heading", { level: 1 }).waitFor();
  return opened;
}

/** The service makes the change, and its response does not arrive. */
async function loseAnswer(page: Page, operation: string): Promise<void> {
  const answer = async (route: Route): Promise<void> => {
    await route.fetch();
    await route.abort();
  };
  await page.route(`**/console/api/${operation}`, answer, { times: 1 });
}

/** Puts the next secret in force, as far as that is confirmed. */
async function activate(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Activate", exact: true }).click();
  await page.getByRole("dialog").getByText("Receiver: Warehouse").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Activate", exact: true }).click();
}

const deliveryRows = (page: Page) => page.getByRole("table", { name: "Deliveries" }).getByRole("row").filter({ hasText: "submission" });

it("an approval arrives on the open page without a reload", async () => {
  const registered = await register();
  const { page, expectNoProblems } = await open(registered);
  await page.getByText("No deliveries yet").waitFor();
  await page.evaluate("window.isSamePage = true");
  await approveNew(db, registered.brand.id);
  // Less than the 15 s at which an idle list is read.
  await deliveryRows(page).getByText("Delivered").waitFor({ timeout: 12_000 });
  await page
    .getByText(/HTTP 204/)
    .first()
    .waitFor();
  expect(await page.evaluate("window.isSamePage")).toBe(true);

  // A later page is not read again. It says that there are newer ones.
  await page.goto(`${url}/developers/receivers/${registered.receiverId}?after=dlv_zzzz`);
  await deliveryRows(page).getByText("Delivered").waitFor();
  await eventually(async () => {
    // Another one, in case the page had not read the newest yet; then the tab is looked at again.
    await approveNew(db, registered.brand.id);
    await returnToTab(page);
    expect(await page.getByRole("link", { name: "New deliveries" }).isVisible()).toBe(true);
  });
  await page.getByRole("link", { name: "New deliveries" }).click();
  await eventually(async () => expect(await deliveryRows(page).count()).toBeGreaterThan(1));
  expectNoProblems();
});

it("a time of today has its day once it is midnight in Manila, on a page that reads nothing since", async () => {
  const registered = await register();
  const { owner, brand, receiverId } = registered;
  await approveNew(db, brand.id);
  const list = { brand_id: brand.id, receiver_id: receiverId };
  const delivery = await eventually(async () => {
    const [first] = (await owner.call("deliveries.list", list)).deliveries;
    expect(first?.state).toBe("delivered");
    return first as NonNullable<typeof first>;
  });
  const { page, expectNoProblems } = await openAs(browser, url, owner);
  const day = new Date(Date.parse(delivery.created_at) + 8 * 3_600_000).toISOString().slice(0, 10);
  await page.clock.install({ time: Date.parse(`${day}T23:59:00+08:00`) });
  await page.goto(`${url}/developers/deliveries/${delivery.id}`);
  const created = page.locator(`time[datetime="${delivery.created_at}"]`).first();
  await created.getByText(/^\d\d:\d\d:\d\d$/).waitFor();
  await page.route("**/console/api/**", () => {});
  await page.clock.runFor(60_000);
  await created.getByText(/^[A-Z][a-z]+ \d+, \d\d:\d\d:\d\d$/).waitFor();
  expectNoProblems();
});

it("older and newer lead through the list that the person came from, with its filters, over the end of its page and back", async () => {
  const { brand, owner, path } = await register();
  const both = { url: urlOf(`${path}/both`), label: "Ledger", events: ["submission.approved", "payout.paid"] };
  const { receiver } = await owner.call("receivers.create", { brand_id: brand.id, ...both });
  const publish = (type: "submission.approved" | "payout.paid", count: number) =>
    publishEvents(
      stack,
      brand.id,
      Array.from({ length: count }, () => ({ type, at: Date.now() })),
    );
  await publish("submission.approved", 1);
  await publish("payout.paid", 1);
  await publish("submission.approved", 50);
  const approved = { brand_id: brand.id, receiver_id: receiver.id, type: "submission.approved" };
  const { deliveries } = await owner.call("deliveries.list", approved);
  const last = deliveries.at(-1)?.id ?? "";
  const [beyond] = (await owner.call("deliveries.list", { ...approved, after_id: last })).deliveries;

  const { page, expectNoProblems } = await openAs(browser, url, owner);
  const openLast = async (): Promise<void> => {
    await deliveryRows(page).nth(49).getByRole("link").click();
    await page.waitForURL(`**/${last}`);
    // The address changes before the page: until then "Older" is the list's.
    await page.getByRole("heading", { name: "submission.approved", exact: true }).waitFor();
  };
  await page.goto(`${url}/developers/receivers/${receiver.id}?type=submission.approved`);
  await openLast();
  await page.getByRole("link", { name: "Older" }).click();
  await page.waitForURL((to) => !to.pathname.endsWith(last));
  expect(new URL(page.url()).pathname).toBe(`/developers/deliveries/${beyond?.id}`);
  await page.getByRole("link", { name: "Newer" }).click();
  await page.waitForURL(`**/${last}`);
  await page.getByRole("link", { name: "Newer" }).click();
  await page.waitForURL(`**/${deliveries.at(-2)?.id}`);

  // A page that is loaded comes with the receiver's whole list, which is older than what the person goes back to.
  await page.goto(`${url}/developers/receivers/${receiver.id}?type=submission.approved`);
  await openLast();
  await page.reload();
  await page.getByRole("link", { name: "Newer" }).waitFor();
  await page.goBack();
  await openLast();
  await page.getByRole("link", { name: "Older" }).click();
  await page.waitForURL((to) => !to.pathname.endsWith(last));
  expect(new URL(page.url()).pathname).toBe(`/developers/deliveries/${beyond?.id}`);
  expectNoProblems();
});

it("the search shows each of two receivers that have one name, and neither once the text finds nothing", async () => {
  const registered = await register();
  const { brand, owner, path } = registered;
  const same = { url: urlOf(`${path}/same`), label: "Warehouse", events: ["submission.approved"] };
  await owner.call("receivers.create", { brand_id: brand.id, ...same });
  const { page, expectNoProblems } = await open(registered);
  await page.keyboard.press("Control+k");
  const options = page.getByRole("dialog").getByRole("option");
  await options.first().waitFor();
  await page.getByRole("combobox").and(page.locator(":focus")).waitFor();
  await page.keyboard.type("warehouse");
  await eventually(async () => expect(await options.count()).toBe(2));
  await page.keyboard.type(" zebra");
  await page.getByText("Nothing is found").waitFor();
  expect(await options.count()).toBe(0);
  expectNoProblems();
});

it("the settings save what was changed, and refuse what the service refuses at its field", async () => {
  const registered = await register();
  const { owner, brand, receiverId } = registered;
  const { page, expectNoProblems } = await open(registered, "/settings");
  await page.getByRole("textbox", { name: "URL" }).fill("https://hooks.slack.com/services/T/B/x");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("is a team chat's incoming webhook").waitFor();
  await page.getByRole("link", { name: "the relay" }).waitFor();
  await page.reload();
  await page.getByRole("textbox", { name: "Label" }).fill("Ledger");
  await page.getByRole("spinbutton", { name: "Attempts in flight" }).fill("");
  await page.getByRole("checkbox", { name: /A submission was approved/ }).uncheck();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Must be a whole number").waitFor();
  await page.getByText("Must name at least one event").waitFor();
  await page.getByRole("spinbutton", { name: "Attempts in flight" }).fill("4");
  await page.getByRole("checkbox", { name: /A payout was paid/ }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Settings of Ledger" }).waitFor();
  const { receiver } = await owner.call("receivers.get", { brand_id: brand.id, receiver_id: receiverId });
  expect(receiver).toMatchObject({ label: "Ledger", events: ["payout.paid"], max_in_flight: 4 });
  expectNoProblems(400);
});

it("no button of the settings moves once it shows, however slowly a part of the page loads", async () => {
  const { page, expectNoProblems } = await open(await register());
  const held = await hold(page, "**/assets/rotate-secret-*.js");
  await page.getByRole("link", { name: "Settings" }).click();
  await held.asked;
  const save = page.getByRole("button", { name: "Save" });
  await save.waitFor();
  const before = await save.boundingBox();
  expect(await page.getByRole("button", { name: /^(Disable|Delete receiver)$/ }).count()).toBe(0);
  held.release();
  await page.getByRole("button", { name: "Delete receiver" }).waitFor();
  expect(await save.boundingBox()).toEqual(before);
  expectNoProblems();
});

it("a part of the settings that cannot be loaded says so, and loads once it can", async () => {
  const { page, expectNoProblems } = await open(await register());
  let asked = 0;
  let isMissing = true;
  await page.route("**/assets/rotate-secret-*.js", (route) => {
    asked += 1;
    return isMissing ? route.fulfill({ status: 404, body: "" }) : route.continue();
  });
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByText("This part of the page could not be loaded.").waitFor();
  await page.getByRole("button", { name: "Delete receiver" }).waitFor();
  // Once before the rest of the page shows, and twice in its place.
  expect(asked).toBe(3);
  isMissing = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("button", { name: "Make the next secret" }).waitFor();
  expectNoProblems(404);
});

it("a press acts on what was shown when it began, though the page has read something else meanwhile", async () => {
  const registered = await register();
  const { owner, brand, receiverId } = registered;
  const receiver = { brand_id: brand.id, receiver_id: receiverId };
  const { page, expectNoProblems } = await open(registered, "/settings");
  const action = page.getByRole("button", { name: /^(Disable|Enable)$/ });
  const dialog = page.getByRole("dialog");
  /** Presses Disable; while it is pressed, the page reads that the receiver is disabled. @returns milliseconds of the press */
  const press = async (): Promise<number> => {
    await owner.call("receivers.enable", { ...receiver, held: "release" });
    await page.reload();
    await page.getByRole("button", { name: "Disable" }).hover();
    const pressedAt = performance.now();
    await page.mouse.down();
    await owner.call("receivers.disable", receiver);
    const read = page.waitForResponse("**/console/api/receivers.get");
    await returnToTab(page);
    await (await read).finished();
    await page.evaluate("new Promise(requestAnimationFrame)");
    await page.mouse.up();
    return performance.now() - pressedAt;
  };
  // What is held for a second is no click.
  while ((await press()) > 900);
  await dialog.getByRole("heading", { name: /^Disable/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Enable" }).waitFor();
  expect(await action.count()).toBe(1);
  expectNoProblems();
});

it("what is typed while the settings are saved stays, and what a save without an answer stored can be taken back", async () => {
  const registered = await register();
  const { owner, brand, receiverId } = registered;
  const { page } = await open(registered, "/settings");
  const label = page.getByRole("textbox", { name: "Label" });
  const save = page.getByRole("button", { name: "Save" });
  const stored = async (): Promise<string> =>
    (await owner.call("receivers.get", { brand_id: brand.id, receiver_id: receiverId })).receiver.label;
  const held = await hold(page, "**/console/api/receivers.update");
  await label.fill(" Ledger ");
  await save.click();
  await held.asked;
  await label.fill("Ledger and bank");
  held.release();
  await page.getByText("Saved.").waitFor();
  expect([await label.inputValue(), await stored()]).toEqual(["Ledger and bank", "Ledger"]);

  await loseAnswer(page, "receivers.update");
  await save.click();
  await page.getByText("It may have been saved all the same").waitFor();
  expect(await stored()).toBe("Ledger and bank");
  await label.fill("Ledger");
  await save.click();
  await page.getByText("Saved.").waitFor();
  expect(await stored()).toBe("Ledger");
});

it.each(["/settings", "new"])(
  "what is typed in the form of %s stays when the session ends, and is stored after a sign-in elsewhere",
  async (form) => {
    const registered = await register();
    const { brand } = registered;
    const { page, expectNoProblems } = await open(registered, "/settings");
    if (form === "new") await page.goto(`${url}/developers/receivers/new`);
    const endSession = async (): Promise<void> => {
      await stack.sessions.endSessionsOf({ email: brand.owner }, callContext());
      await returnToTab(page);
    };
    const label = page.getByRole("textbox", { name: "Label" });
    if (form === "new") await page.getByRole("textbox", { name: "URL" }).fill("https://receiver.example/hooks");
    await label.fill("Ledger");
    await endSession();
    await page.getByRole("alert").filter({ hasText: "You are signed out, and what you typed" }).waitFor();
    expect(await page.getByRole("link", { name: "Sign in in a new tab" }).getAttribute("target")).toBe("_blank");
    expect(await label.inputValue()).toBe("Ledger");

    await enter(page, url, await signIn(stack, url, brand.owner));
    await page.getByRole("button", { name: /^(Save|Register receiver)$/ }).click();
    await page.getByText(/^Saved\.$|This is the only time the signing secret/).waitFor();
    expect(await page.getByText("You are signed out").count()).toBe(0);
    expectNoProblems(401);
  },
);

it("a session that ends leads from a form that nothing was typed in to the sign-in page", async () => {
  const registered = await register();
  const { page, expectNoProblems } = await open(registered, "/settings");
  const label = page.getByRole("textbox", { name: "Label" });
  await label.fill("Ledger");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  await stack.sessions.endSessionsOf({ email: registered.brand.owner }, callContext());
  await returnToTab(page);
  await page.waitForURL("**/sign-in?**");
  expectNoProblems(401);
});

it("an activation and a deletion whose answers are lost show what became of them", async () => {
  const registered = await register();
  const { owner, brand, receiverId } = registered;
  await owner.call("receivers.rotate", { brand_id: brand.id, receiver_id: receiverId, replace: false });
  const { page } = await open(registered, "/settings");
  await loseAnswer(page, "receivers.activate");
  await page.getByRole("checkbox", { name: "Activate without an accepted test" }).check();
  await activate(page);
  await page.getByText("The new secret is in force").first().waitFor();

  await loseAnswer(page, "receivers.delete");
  // A poll of the page would notice.
  await page.route("**/console/api/receivers.get", () => {});
  await page.getByRole("button", { name: "Delete receiver" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill("Warehouse");
  await dialog.getByRole("button", { name: "Delete receiver" }).click();
  await dialog.getByText("It may have been deleted all the same").waitFor();
  await dialog.getByRole("button", { name: "Delete receiver" }).click();
  await page.getByText("No receivers yet").waitFor();
});

it("a page of a receiver that was deleted elsewhere says so", async () => {
  const registered = await register();
  const { owner, brand, receiverId } = registered;
  const { page, expectNoProblems } = await open(registered, "/settings");
  await page.getByRole("button", { name: "Delete receiver" }).waitFor();
  await owner.call("receivers.delete", { brand_id: brand.id, receiver_id: receiverId });
  await returnToTab(page);
  await page.getByText("Nothing is here").waitFor();
  expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
  expectNoProblems(404);
});

it("a rotation goes through its three steps, over reloads, and the receiver verifies each", async () => {
  const registered = await register();
  const { brand, owner, path, receiverId, secret } = registered;
  receivers.set(path, { status: 204, secrets: [secret] });
  const { page, expectNoProblems } = await open(registered, "/settings");
  const makeSecret = async (button: string): Promise<string> => {
    await page.getByRole("button", { name: button }).click();
    if (button.startsWith("Replace")) await page.getByRole("dialog").getByRole("button", { name: button }).click();
    const made = await page.getByText(/^whsec_/).innerText();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("button", { name: "Replace the next secret" }).waitFor();
    return made;
  };
  const lost = await makeSecret("Make the next secret");
  // A page that does not know of that secret replaces nothing.
  expect(await owner.send("receivers.rotate", { brand_id: brand.id, receiver_id: receiverId, replace: false })).toMatchObject({
    code: "request_conflict",
  });
  const next = await makeSecret("Replace the next secret");
  expect(next).not.toBe(lost);

  await activate(page);
  await page.getByRole("dialog").getByRole("alert").getByText("has not accepted a test").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Send test" }).click();
  await page.getByText("HTTP 401").first().waitFor();
  receivers.set(path, { status: 204, secrets: [secret, next] });
  await page.reload();
  await page.getByText("HTTP 401").first().waitFor();
  await page.getByRole("button", { name: "Send another test" }).click();
  await page.getByText("Your receiver accepted such a test").waitFor();
  await page.reload();
  await page.getByText("Your receiver accepted such a test").waitFor();
  await activate(page);
  // What it has done is in view, and in focus.
  const done = page.getByText("Remove the old one from your receiver");
  await page.locator(":focus").filter({ has: done }).waitFor();
  expect(await isInView(done)).toBe(true);
  await page.getByRole("button", { name: "Make the next secret" }).waitFor();

  receivers.set(path, { status: 204, secrets: [next] });
  await page.getByRole("link", { name: "Deliveries" }).click();
  await page.getByRole("button", { name: "Send test" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Send test" }).click();
  await page.getByRole("dialog").getByText("HTTP 204").waitFor();
  await page.getByRole("link", { name: "Open this delivery" }).click();
  await page.getByText("Attempt 1", { exact: true }).waitFor();
  const kept = await page.evaluate<string>("document.documentElement.outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage })");
  expect([kept.includes(lost), kept.includes(next)]).toEqual([false, false]);
  expectNoProblems(409);
});

it("a next secret that shows once stays when its owner is made a member, who then sees the members' settings", async () => {
  const { brand, owner, receiverId } = await register();
  const { page, expectNoProblems } = await openAs(browser, url, owner);
  await page.clock.install();
  await page.goto(`${url}/developers/receivers/${receiverId}/settings`);
  await page.getByRole("button", { name: "Make the next secret" }).click();
  const dialog = page.getByRole("dialog");
  const secret = await dialog.getByText(/^whsec_/).innerText();
  await stack.accounts.addMember({ brand_id: brand.id, email: "jun@example.com", role: "owner" }, callContext());
  await stack.accounts.setMemberRole({ brand_id: brand.id, email: brand.owner, role: "member" }, callContext());
  await page.clock.runFor(15_000);
  await page.getByRole("link", { name: "Audit log" }).waitFor({ state: "detached" });
  expect(await dialog.getByText(/^whsec_/).innerText()).toBe(secret);
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("button", { name: "Save" }).waitFor({ state: "detached" });
  expectNoProblems();
});

it("the keyboard's focus stays on a button while its call is made", async () => {
  const registered = await register();
  const { page, expectNoProblems } = await open(registered, "/settings");
  const held = await hold(page, "**/console/api/receivers.update");
  await page.getByLabel("Label").fill("Ledger");
  const save = page.getByRole("button", { name: "Save" });
  await save.press("Enter");
  await page.locator("button:disabled", { hasText: "Save" }).waitFor();
  // The browser takes the focus from a disabled button with its next frame.
  await eventually(async () => expect(await page.evaluate("document.activeElement === document.body")).toBe(true));
  held.release();
  await save.and(page.locator(":focus")).waitFor();
  expectNoProblems();
});

it("a replay of what failed shows its progress, over a reload, and sends nothing else", async () => {
  const registered = await register();
  const { brand, path, owner, receiverId } = registered;
  await approveNew(db, brand.id);
  const delivered = async (): Promise<number> =>
    (await owner.call("deliveries.list", { brand_id: brand.id, receiver_id: receiverId, states: ["delivered"] })).deliveries.length;
  await eventually(async () => expect(await delivered()).toBe(1));
  receivers.set(path, { status: 500, secrets: [] });
  await approveNew(db, brand.id, 2);
  const failed = { brand_id: brand.id, receiver_id: receiverId, since: new Date(Date.now() - 3_600_000).toISOString(), failed_only: true };
  await eventually(async () => expect((await owner.call("replays.count", failed)).events).toBe(2));
  receivers.set(path, { status: 204, secrets: [] });

  const { page, expectAccessible, expectNoProblems } = await open(registered, "/replay");
  await page.getByText("2 events will be sent again.").waitFor();
  await page.getByRole("radio", { name: "Everything" }).check();
  await page.getByText("3 events will be sent again.").waitFor();
  await page.getByLabel("Until").fill((await page.getByLabel("Since").inputValue()).replace(/\d\d$/, "00"));
  await page.getByText(/Is before the start|There are no events/).waitFor();
  await page.getByLabel("Until").fill("");
  await page.getByRole("radio", { name: "Failed only" }).check();
  await page.getByLabel("Since").fill("2020-01-01T00:00");
  await page.getByText("Events are kept for 30 days").waitFor();
  await page.reload();
  // The replay starts, and cannot queue.
  await whileLocked("lock table webhook.deliveries in share mode", [], async () => {
    await page.getByRole("button", { name: "Start replay" }).click();
    await page.getByRole("dialog").waitFor();
    await expectAccessible();
    await page.getByRole("dialog").getByRole("button", { name: "Send 2 events" }).click();
    await page.getByText("0 of 2 queued").waitFor();
    await expectAccessible();
    await page.reload();
    await page.getByText("0 of 2 queued").waitFor();
    expect(await page.getByRole("button", { name: "Start replay" }).count()).toBe(0);
  });
  await page.getByText("Finished", { exact: true }).waitFor();
  await page.getByText("2 events were sent again.", { exact: true }).waitFor();
  await page.getByRole("link", { name: "See the deliveries since it started" }).click();
  await eventually(async () => expect(await delivered()).toBe(3));
  await eventually(async () => expect(await deliveryRows(page).filter({ hasText: "Delivered" }).count()).toBe(3));
  expect(await deliveryRows(page).filter({ hasText: "Replay" }).count()).toBe(2);
  const [newest] = (await owner.call("deliveries.list", { brand_id: brand.id, receiver_id: receiverId })).deliveries;
  await owner.call("deliveries.replay", { brand_id: brand.id, delivery_id: newest?.id ?? "" });
  await deliveryRows(page).filter({ hasText: "Sent again" }).waitFor();
  expectNoProblems();
});

it("a replay in progress is cancelled", async () => {
  const registered = await register();
  const { brand, receiverId } = registered;
  // Workers skip the replays of a locked lane.
  await whileLocked("select from webhook.lanes where receiver_id = $1 for update", [receiverId], async () => {
    await db.query(
      `insert into webhook.replays (id, brand_id, receiver_id, since, until, failed_only, started_at, counted)
       values ($1, $2, $3, now() - interval '1 day', now(), true, now(), 7)`,
      [newId("rpl"), brand.id, receiverId],
    );
    const { page, expectNoProblems } = await open(registered, "/replay");
    await page.getByText("0 of 7 queued").waitFor();
    await page.getByRole("button", { name: "Cancel replay" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel replay" }).click();
    await page.getByText("Cancelled", { exact: true }).waitFor();
    await page.getByText("Send events again").waitFor();
    expectNoProblems();
  });
});

/** Registers a receiver that answers 500, is paused and has 7 deliveries waiting. */
async function registerPaused(): Promise<Registered> {
  const registered = await register(500);
  const { brand, receiverId } = registered;
  await db.query(
    "update webhook.lanes set failed_in_a_row = 12, opened_at = now(), open_until = now() + interval '5 min' where receiver_id = $1",
    [receiverId],
  );
  await approveNew(db, brand.id, 7);
  await eventually(async () =>
    expect(await db.query("select from webhook.deliveries where receiver_id = $1", [receiverId])).toHaveLength(7),
  );
  return registered;
}

/** Some may have arrived before their number is read. */
const ALL_ACCEPTED = /^(All \d that waited were accepted|What waited was accepted)\.$/;

it("while sending is paused, one delivery is tried, and then all are sent, in sight", async () => {
  const registered = await registerPaused();
  const { path } = registered;
  const { page, expectAccessible, expectNoProblems } = await open(registered, "/replay");
  await page.getByText("7 deliveries wait to be sent").waitFor();
  await page.getByRole("link", { name: "Deliveries", exact: true }).click();
  // The page before has such a button, too.
  await deliveryRows(page).first().waitFor();
  await page.getByText("is paused until").waitFor();
  await page.getByRole("button", { name: "Try now" }).click();
  await page.getByRole("main").getByText("Tried just now: HTTP 500.").waitFor();
  await page.getByText("is paused until").waitFor();
  await deliveryRows(page)
    .filter({ hasText: /Retrying, attempt 2 of 10 next \d/ })
    .waitFor();
  await expectAccessible();
  receivers.set(path, { status: 204, secrets: [] });
  await page.getByRole("button", { name: /^Send all [67] waiting now$/ }).click();
  await page.getByRole("main").locator("[data-tone=good]").filter({ hasText: ALL_ACCEPTED }).waitFor();
  await eventually(async () => expect(await deliveryRows(page).filter({ hasText: "Delivered" }).count()).toBeGreaterThanOrEqual(6));
  expectNoProblems();
});

it("once a repaired receiver accepts the delivery that is tried, the others need not wait for their retries", async () => {
  const registered = await registerPaused();
  const { path, receiverId } = registered;
  await db.query("update webhook.deliveries set due_at = now() + interval '1 hour' where receiver_id = $1", [receiverId]);
  receivers.set(path, { status: 204, secrets: [] });
  const { page, expectNoProblems } = await open(registered);
  const hand = keyboardOf(page);
  await hand.press(page.getByRole("button", { name: "Try now" }));
  await page.getByRole("main").getByText("Tried just now: HTTP 204.").waitFor();
  await page.getByText("6 deliveries wait for a retry.").waitFor();
  await page.getByRole("link", { name: "Replay", exact: true }).click();
  await page.getByText("6 deliveries wait to be sent").waitFor();
  await hand.press(page.getByRole("button", { name: "Send all 6 waiting now" }));
  await page.getByRole("main").locator("[data-tone=good]").filter({ hasText: ALL_ACCEPTED }).waitFor();
  expect(await db.query("select from webhook.deliveries where receiver_id = $1", [receiverId])).toEqual([]);
  expectNoProblems();
});

it("a page that cannot be read again says so, and keeps what it shows", async () => {
  const registered = await register();
  const { page } = await open(registered);
  const error = { code: "service_unavailable_for_now", message: "Receivers are away.", request_id: "req_1", details: [] };
  for (const [path, shown] of [
    ["", "Create an API key"],
    ["/receivers", "1 of 20 receivers"],
    [`/receivers/${registered.receiverId}/settings`, "Attempts in flight"],
  ] as const) {
    await page.goto(`${url}/developers${path}`);
    await page.getByRole("main").getByText(shown).first().waitFor();
    await page.waitForLoadState("networkidle");
    await page.route("**/console/api/**", (route) => route.fulfill({ status: 400, json: { error } }));
    // As with the next poll.
    await returnToTab(page);
    await page.getByRole("main").getByRole("alert").getByText(error.message).first().waitFor();
    expect(await page.getByRole("main").getByText(shown).first().isVisible()).toBe(true);
    await page.unroute("**/console/api/**");
  }
});

it("deleting takes the label, and drops what waits", async () => {
  const registered = await register();
  const { brand, owner, receiverId } = registered;
  await owner.call("receivers.disable", { brand_id: brand.id, receiver_id: receiverId });
  await approveNew(db, brand.id, 2);
  const waiting = async (): Promise<number> =>
    (await owner.call("receivers.get", { brand_id: brand.id, receiver_id: receiverId })).receiver.waiting;
  await eventually(async () => expect(await waiting()).toBe(2));
  const { page, expectNoProblems } = await open(registered, "/settings");
  await page.getByText("2 deliveries are held").waitFor();
  await page.getByRole("button", { name: "Delete receiver" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("2 waiting deliveries are dropped and never sent.").waitFor();
  await dialog.getByRole("button", { name: "Delete receiver" }).click();
  await dialog.getByText("This is not the receiver’s label.").waitFor();
  await dialog.getByRole("textbox").fill("Warehouse");
  await dialog.getByRole("button", { name: "Delete receiver" }).click();
  await page.getByText("No receivers yet").waitFor();
  expect(await db.query("select from webhook.deliveries where receiver_id = $1", [receiverId])).toEqual([]);
  expectNoProblems();
});

it("a member sees what happens, the receiver's origin, and none of what owners do", async () => {
  const registered = await register();
  const { brand, path } = registered;
  const email = `member@${brand.id.slice(4)}.example`;
  await stack.accounts.addMember({ brand_id: brand.id, email, role: "member", acting_member: null }, callContext());
  await approveNew(db, brand.id);
  const owner = await signIn(stack, url, email);
  const { page, expectNoProblems } = await open({ ...registered, owner });
  await deliveryRows(page).getByText("Delivered").waitFor();
  const buttons = async (): Promise<string[]> => page.getByRole("main").getByRole("button").allInnerTexts();
  const words = /test|disable|enable|save|delete|secret|activate|replay|send/i;
  expect((await buttons()).filter((text) => words.test(text))).toEqual([]);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByText("Owners of the brand change these settings").waitFor();
  expect(await page.getByRole("main").innerText()).not.toContain(path);
  expect((await buttons()).filter((text) => words.test(text))).toEqual([]);
  await page.getByRole("link", { name: "Replay" }).click();
  await page.getByText("Owners of the brand start replays").waitFor();
  expect((await buttons()).filter((text) => words.test(text))).toEqual([]);
  await page.goto(`${url}/developers/receivers/${registered.receiverId}`);
  await deliveryRows(page).getByRole("link").first().click();
  await page.getByText("Attempt 1", { exact: true }).waitFor();
  expect((await buttons()).filter((text) => words.test(text))).toEqual([]);
  expectNoProblems();
});
