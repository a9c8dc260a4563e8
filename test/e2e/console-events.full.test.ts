import { openPool } from "@brand-records/postgres";
import { eventually } from "@brand-records/testkit";
import type { TestBrowser, TestPage } from "../browser.ts";
import { withConsole, wordAskedFor } from "../console.ts";
import { openAs, signIn, type ConsoleCaller } from "../console-calls.ts";
import { publishEvents } from "../publish-events.ts";
import { startReceivers } from "../receivers.ts";
import { callContext, type Stack, type TestBrand } from "../stack.ts";

/** One promise: an owner finds in the console what has happened: each event, who gets it, and who changed what. */

const DAY_MS = 24 * 3_600_000;
/** Midnight in Manila, three days ago. */
const MIDNIGHT = Math.floor((Date.now() + 8 * 3_600_000) / DAY_MS) * DAY_MS - 8 * 3_600_000 - 3 * DAY_MS;
const DAY = new Date(MIDNIGHT + 8 * 3_600_000).toISOString().slice(0, 10);

let stack: Stack;
let browser: TestBrowser;
let url: string;
const ENV_OF = { webhook: { RECEIVERS_ON_LOOPBACK: "true", RETRY_DELAYS_SECONDS: "3600" } };
withConsole({ envOf: ENV_OF }, (started) => {
  ({ stack, browser, url } = started);
});

/** A page of a person whose computer is set to New York. */
const openPage = (caller: ConsoleCaller): Promise<TestPage> => openAs(browser, url, caller, { timezoneId: "America/New_York" });

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
  const { page, expectNoProblems } = await openPage(owner);
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
});

it("51 events are on two pages: turning one leads to the top of the list", async () => {
  const { brand, owner } = await brandWithOwner();
  const events = await publishEvents(
    stack,
    brand.id,
    Array.from({ length: 51 }, (_, index) => ({ type: "submission.approved", at: MIDNIGHT + index })),
  );
  const { page, expectNoProblems } = await openPage(owner);
  await page.goto(`${url}/developers/events`);
  await page.getByRole("link", { name: "Older" }).click();
  await page.getByText(events[0]?.recordId ?? "").waitFor();
  expect(await page.locator("tbody tr").count()).toBe(1);
  await page.locator("[aria-label=Events]:focus").waitFor();
  await page.getByRole("link", { name: "Newer", exact: true }).click();
  await page.getByText(events.at(-1)?.recordId ?? "").waitFor();
  expect(await page.getByRole("link", { name: "Newer", exact: true }).count()).toBe(0);
  await page.getByRole("link", { name: "Older" }).click();
  await page.getByText(events[0]?.recordId ?? "").waitFor();
  await page.getByRole("link", { name: "Newest" }).click();
  await page.getByText(events.at(-1)?.recordId ?? "").waitFor();
  expect(await page.locator("tbody tr").count()).toBe(50);
  for (const list of ["events", "keys", "members"]) {
    await page.goto(`${url}/developers/${list}?page=of-another-list`);
    await page.getByText("This page of the list does not exist").waitFor();
  }
  expectNoProblems(400);
});

it("an event shows its receivers, also a deleted one, and is sent again from there", async () => {
  let status = 500;
  const server = await startReceivers(({ url: path }) => [path === "/Old" ? 204 : status]);
  try {
    const { brand, owner } = await brandWithOwner();
    const ofBrand = { brand_id: brand.id };
    const register = (label: string) =>
      owner.call("receivers.create", { ...ofBrand, url: `${server.url}${label}`, label, events: ["payout.paid"] });
    await register("Warehouse");
    const { receiver: old } = await register("Old");
    const [event] = await publishEvents(stack, brand.id, [{ type: "payout.paid", at: Date.now() }]);
    const eventId = event?.id ?? "";
    await eventually(async () => {
      const { receivers } = await owner.call("events.get", { ...ofBrand, event_id: eventId });
      const statuses = receivers.flatMap(({ deliveries }) => deliveries.map(({ last_http_status }) => last_http_status));
      expect(new Set(statuses)).toEqual(new Set([500, 204]));
    });
    const { page, expectNoProblems } = await openPage(owner);
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
    server.stop();
  }
});

it("another brand's event and an unknown one look alike", async () => {
  const [{ brand }, { owner: other }] = [await brandWithOwner(), await brandWithOwner()];
  const [event] = await publishEvents(stack, brand.id, [{ type: "payout.paid", at: Date.now() }]);
  const { page, expectNoProblems } = await openPage(other);
  const shown: string[] = [];
  for (const id of [event?.id ?? "", "evt_unknown", "no-id"]) {
    await page.goto(`${url}/developers/events/${id}`);
    await page.getByText("An event is kept for 30 days").waitFor();
    shown.push(await page.locator("main").innerText());
  }
  expect(new Set(shown).size).toBe(1);
  expectNoProblems(404, 400);
});

it("the audit log shows an owner the operator's actions and refused ones; a member sees why not", async () => {
  const { brand, owner } = await brandWithOwner();
  const email = `reader@${brand.id.slice(4)}.example`;
  await stack.accounts.addMember({ brand_id: brand.id, email, role: "member" }, callContext());
  await owner.call("keys.create", { brand_id: brand.id, name: "Looker report", may_prepare: false });
  const settings = { brand_id: brand.id, url: "https://example.com/", label: "Plain", events: ["payout.paid"] };
  await owner.call("receivers.create", settings);
  expect(await owner.send("receivers.create", settings)).toMatchObject({ code: "duplicate_url" });
  const { page, expectNoProblems } = await openPage(owner);
  const rows = page.locator("tbody tr");
  await page.goto(`${url}/developers/audit`);
  await rows.filter({ hasText: "Create an API key" }).filter({ hasText: "Looker report" }).filter({ hasText: "Done" }).waitFor();
  await rows.filter({ hasText: "Register a receiver" }).filter({ hasText: "Failed" }).waitFor();
  await rows.filter({ hasText: "Make a sign-in link" }).filter({ hasText: "Operator" }).waitFor();
  await page.getByLabel("Person").fill("operator");
  await eventually(async () => expect(await rows.filter({ hasText: brand.owner }).filter({ hasNotText: "Operator" }).count()).toBe(0));
  expectNoProblems();

  const reader = await openPage(await signIn(stack, url, email));
  await reader.page.goto(`${url}/developers/audit`);
  await reader.page.getByText("Only owners see the audit log").waitFor();
  expect(await reader.page.getByRole("link", { name: "Audit log" }).count()).toBe(0);
  await reader.expectAccessible();
  reader.expectNoProblems();
});

it("an owner finds and revokes the oldest of many keys, behind thousands of revoked ones; their names are known by id", async () => {
  const { id: brand_id, owner } = await stack.createBrand();
  const db = openPool({ url: stack.databaseUrl, applicationName: "test" });
  await db.query(
    `insert into accounts.keys (id, brand_id, environment, name, permissions, hint, pepper_version, key_hash, created_by, created_at, revoked_at, revoked_by)
     select 'key_' || substr($1, 5) || n, $1, 'live', case n when 250 then 'Oldest in use' when 3000 then 'Oldest of all' else 'Report ' || n end,
            '{records:read}', 'brk_live_…abcd', 1, sha256(($1 || n)::bytea), $2, now() - make_interval(days => case when n > 250 then 0 else 9 end, secs => n),
            case when n > 250 then now() end, case when n > 250 then $2 end
       from generate_series(1, 3000) n`,
    [brand_id, owner],
  );
  await db.stop();
  const caller = await signIn(stack, url, owner);
  await caller.call("keys.revoke", { brand_id, key_id: `key_${brand_id.slice(4)}249` });
  const { keys } = await caller.call("audit.list", { brand_id });
  // The operator made the other one with the brand.
  expect(keys.map(({ name }) => name).toSorted()).toEqual(["Report 249", "Test"]);
  expect((await caller.call("overview.get", { brand_id })).keys).toHaveLength(200);

  const { page, expectNoProblems } = await openPage(caller);
  await page.goto(`${url}/developers/keys`);
  await page.getByRole("button", { name: "Revoke Report 1", exact: true }).waitFor();
  await page.getByRole("link", { name: "Next page" }).click();
  await page.getByRole("button", { name: "Revoke Oldest in use" }).click();
  await page.getByRole("textbox", { name: /^Type the/ }).fill(await wordAskedFor(page));
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.getByRole("link", { name: "First page" }).click();
  await page.getByRole("button", { name: "Revoke Report 1", exact: true }).waitFor();
  // A link leads to a key of any page.
  await page.goto(`${url}/developers/keys?key=key_${brand_id.slice(4)}250`);
  await page.locator("tr[aria-current]", { hasText: "Oldest in use" }).waitFor();
  expectNoProblems();
  await page.goto(`${url}/developers/keys?page=x`);
  await page.getByText("This page of the list does not exist").waitFor();
  await page.getByRole("link", { name: "First page" }).click();
  await page.getByRole("button", { name: "Revoke Report 1", exact: true }).waitFor();
});
