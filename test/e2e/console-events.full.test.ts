import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "@brand-records/testkit";
import { startBrowser, type TestBrowser, type TestPage } from "../browser.ts";
import { signIn, type ConsoleCaller } from "../console-calls.ts";
import { publishEvents } from "../publish-events.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: an owner finds in the console what has happened: each event, who gets it, and who changed what. */

const DAY_MS = 24 * 3_600_000;
/** Midnight in Manila, three days ago. */
const MIDNIGHT = Math.floor((Date.now() + 8 * 3_600_000) / DAY_MS) * DAY_MS - 8 * 3_600_000 - 3 * DAY_MS;
const DAY = new Date(MIDNIGHT + 8 * 3_600_000).toISOString().slice(0, 10);

let stack: Stack;
let browser: TestBrowser;
let url: string;
beforeAll(async () => {
  const env = { webhook: { RECEIVERS_ON_LOOPBACK: "true", RETRY_DELAYS_SECONDS: "3600" } };
  [stack, browser] = await Promise.all([startStack({ hasConsole: true, envOf: env }), startBrowser()]);
  url = stack.gateways[0].console?.url ?? "";
}, 300_000);
afterEach(() => browser.closePages());
afterAll(async () => {
  await browser?.stop();
  await stack?.stop();
});

/** A page of a person whose computer is set to New York. */
async function openAs(caller: ConsoleCaller): Promise<TestPage> {
  const opened = await browser.open({ viewport: { width: 1280, height: 800 }, timezoneId: "America/New_York" });
  const [name = "", value = ""] = caller.cookie.split("=");
  await opened.page.context().addCookies([{ name, value, url, httpOnly: true, sameSite: "Lax" }]);
  return opened;
}

async function brandWithOwner(): Promise<{ brand: TestBrand; owner: ConsoleCaller }> {
  const brand = await stack.createBrand();
  return { brand, owner: await signIn(stack, url, brand.owner) };
}

it("a day is Manila's whole day on every computer, and the filters are in the URL", async () => {
  const { brand, owner } = await brandWithOwner();
  const times = [MIDNIGHT - 1, MIDNIGHT, MIDNIGHT + DAY_MS - 1, MIDNIGHT + DAY_MS];
  const events = await publishEvents(
    stack,
    brand.id,
    times.map((at) => ({ type: "payout.paid", at })),
  );
  const [before = "", first = "", last = "", after = ""] = events.map(({ recordId }) => recordId);
  const { page, expectNoProblems } = await openAs(owner);
  const expectShown = async (...recordIds: string[]): Promise<void> => {
    await eventually(async () => expect(await page.locator("tbody code").allTextContents()).toEqual(recordIds));
  };
  await page.goto(`${url}/developers/events`);
  await expectShown(after, last, first, before);
  await page.getByLabel("From").fill(DAY);
  await expectShown(after, last, first);
  await page.getByLabel("To").fill(DAY);
  await expectShown(last, first);
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ from: DAY, to: DAY });
  await page.reload();
  await expectShown(last, first);
  await page.getByLabel("Record id").fill(first);
  await page.keyboard.press("Enter");
  await expectShown(first);
  await page.getByLabel("Type").selectOption("campaign.settled");
  await page.getByText("No events match these filters").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).first().press("Enter");
  await expectShown(after, last, first, before);
  // The button is gone: the keyboard goes on from its place.
  await page.getByRole("search", { name: "Filters" }).and(page.locator(":focus")).waitFor();
  expectNoProblems();
}, 60_000);

it("51 events are on two pages: turning one leads to the top of the list", async () => {
  const { brand, owner } = await brandWithOwner();
  const events = await publishEvents(
    stack,
    brand.id,
    Array.from({ length: 51 }, (_, index) => ({ type: "submission.approved", at: MIDNIGHT + index })),
  );
  const { page, expectNoProblems } = await openAs(owner);
  await page.goto(`${url}/developers/events`);
  await page.getByRole("link", { name: "Older" }).click();
  await page.getByText(events[0]?.recordId ?? "").waitFor();
  expect(await page.locator("tbody tr").count()).toBe(1);
  await page.locator("[aria-label=Events]:focus").waitFor();
  await page.getByRole("link", { name: "Newest" }).click();
  await page.getByText(events.at(-1)?.recordId ?? "").waitFor();
  expect(await page.locator("tbody tr").count()).toBe(50);
  for (const list of ["events", "keys", "members"]) {
    await page.goto(`${url}/developers/${list}?page=of-another-list`);
    await page.getByText("This page of the list does not exist").waitFor();
  }
  expectNoProblems(400);
}, 60_000);

it("an event shows its receivers, also a deleted one, and is sent again from there", async () => {
  let status = 500;
  const server: Server = createServer((request, response) => {
    request.resume();
    response.writeHead(request.url === "/Old" ? 204 : status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { brand, owner } = await brandWithOwner();
    const ofBrand = { brand_id: brand.id };
    const receiverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const register = (label: string) =>
      owner.call("receivers.create", { ...ofBrand, url: `${receiverUrl}${label}`, label, events: ["payout.paid"] });
    await register("Warehouse");
    const { receiver: old } = await register("Old");
    const [event] = await publishEvents(stack, brand.id, [{ type: "payout.paid", at: Date.now() }]);
    const eventId = event?.id ?? "";
    await eventually(async () => {
      const { receivers } = await owner.call("events.get", { ...ofBrand, event_id: eventId });
      const statuses = receivers.flatMap(({ deliveries }) => deliveries.map(({ last_http_status }) => last_http_status));
      expect(new Set(statuses)).toEqual(new Set([500, 204]));
    });
    const { page, expectNoProblems } = await openAs(owner);
    await page.goto(`${url}/developers/events/${eventId}`);
    await page
      .getByRole("row", { name: /Warehouse/ })
      .getByText("HTTP 500")
      .waitFor();
    await page.getByRole("button", { name: "Send again to Old" }).waitFor();
    await owner.call("receivers.delete", { ...ofBrand, receiver_id: old.id });
    await page.reload();
    await page
      .getByRole("row", { name: /Deleted receiver/ })
      .getByText("HTTP 204")
      .waitFor();
    // Warehouse alone has one.
    expect(await page.getByRole("button", { name: /^Send (again|now) to/ }).count()).toBe(1);
    status = 204;
    await page.getByRole("button", { name: "Send now to Warehouse" }).click();
    await page.waitForURL("**/developers/deliveries/*");
    await page.getByRole("heading", { name: "Attempts" }).waitFor();
    await page.getByText("HTTP 204").first().waitFor();
    await page.goto(`${url}/developers/events/${eventId}`);
    await page.getByRole("button", { name: "Send again to Warehouse" }).waitFor();
    expectNoProblems();
  } finally {
    server.close();
  }
}, 60_000);

it("another brand's event and an unknown one look alike", async () => {
  const [{ brand }, { owner: other }] = [await brandWithOwner(), await brandWithOwner()];
  const [event] = await publishEvents(stack, brand.id, [{ type: "payout.paid", at: Date.now() }]);
  const { page, expectNoProblems } = await openAs(other);
  const shown: string[] = [];
  for (const id of [event?.id ?? "", "evt_unknown", "no-id"]) {
    await page.goto(`${url}/developers/events/${id}`);
    await page.getByText("An event is kept for 30 days").waitFor();
    shown.push(await page.locator("main").innerText());
  }
  expect(new Set(shown).size).toBe(1);
  expectNoProblems(404, 400);
}, 60_000);

it("the audit log shows an owner the operator's actions and refused ones; a member sees why not", async () => {
  const { brand, owner } = await brandWithOwner();
  const email = `reader@${brand.id.slice(4)}.example`;
  await stack.accounts.addMember({ brand_id: brand.id, email, role: "member" }, callContext());
  await owner.call("keys.create", { brand_id: brand.id, name: "Looker report", may_prepare: false });
  await owner.send("receivers.create", { brand_id: brand.id, url: "http://example.com/", label: "Plain", events: ["payout.paid"] });
  const { page, expectNoProblems } = await openAs(owner);
  const rows = page.locator("tbody tr");
  await page.goto(`${url}/developers/audit`);
  await rows.filter({ hasText: "Create an API key" }).filter({ hasText: "Looker report" }).filter({ hasText: "Done" }).waitFor();
  await rows.filter({ hasText: "Register a receiver" }).filter({ hasText: "Failed" }).waitFor();
  await rows.filter({ hasText: "Make a sign-in link" }).filter({ hasText: "Operator" }).waitFor();
  await page.getByLabel("Person").fill("operator");
  await eventually(async () => expect(await rows.filter({ hasText: brand.owner }).filter({ hasNotText: "Operator" }).count()).toBe(0));
  expectNoProblems();

  const reader = await openAs(await signIn(stack, url, email));
  await reader.page.goto(`${url}/developers/audit`);
  await reader.page.getByText("Only owners see the audit log").waitFor();
  expect(await reader.page.getByRole("link", { name: "Audit log" }).count()).toBe(0);
  await reader.expectAccessible();
  reader.expectNoProblems();
}, 60_000);
