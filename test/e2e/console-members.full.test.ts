import type { Page } from "playwright-core";
import type { TestBrowser } from "../browser.ts";
import { hold, withConsole } from "../console.ts";
import { openAs, signIn, signInUrl } from "../console-calls.ts";
import { callContext, type Stack, type TestBrand } from "../stack.ts";

/** One promise: owners decide in the console who works on their brand, and decide nothing about other brands. */

let stack: Stack;
let browser: TestBrowser;
let url: string;

withConsole({}, (started) => {
  ({ stack, browser, url } = started);
});

const add = ({ id }: TestBrand, email: string, role = "member") => stack.accounts.addMember({ brand_id: id, email, role }, callContext());
async function brandWithMember(): Promise<{ readonly brand: TestBrand; readonly email: string }> {
  const [brand, email] = [await stack.createBrand(), newEmail()];
  await add(brand, email);
  return { brand, email };
}
const remove = ({ id }: TestBrand, email: string) => stack.accounts.removeMember({ brand_id: id, email }, callContext());
const newEmail = (): string => `ana@${Math.random().toString(36).slice(2)}.example`;

/** The name of a brand in the switcher is not unique in these tests: its id is the option's value. */
const shownBrand = (page: Page): Promise<string> => page.getByLabel("Brand", { exact: true }).inputValue();

async function openMembers(email: string) {
  const opened = await openAs(browser, url, await signIn(stack, url, email));
  await opened.page.goto(`${url}/developers/members`);
  await opened.page.getByRole("cell", { name: email }).first().waitFor();
  return opened;
}

it("an owner adds a person, whose link signs in to this brand alone, though the person is in another brand", async () => {
  const [brand, other] = [await stack.createBrand(), await stack.createBrand()];
  const email = newEmail();
  await add(other, email, "owner");
  const { page, expectNoProblems } = await openMembers(brand.owner);
  await page.getByRole("button", { name: "Add member" }).click();
  const dialog = page.getByRole("dialog");
  const submit = dialog.getByRole("button", { name: "Add member" });
  await dialog.getByLabel("E-mail address").fill("ana at example");
  await submit.click();
  await dialog.getByText("Must be an e-mail address").waitFor();
  await dialog.getByLabel("E-mail address").fill(brand.owner.toUpperCase());
  await submit.click();
  await dialog.getByText("is a member of the brand already").waitFor();
  await dialog.getByLabel("E-mail address").fill(` ${email.toUpperCase()} `);
  await submit.click();
  await dialog.getByRole("button", { name: "Make link" }).click();
  const link = await dialog.getByText(/\/sign-in#/).innerText();
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "I have sent it" }).click();
  await page.getByRole("cell", { name: email, exact: true }).waitFor();
  const kept = await page.evaluate<string[]>(
    "[document.documentElement.outerHTML, ...Object.values(localStorage), ...Object.values(sessionStorage)]",
  );
  expect(kept.join()).not.toContain(link.slice(link.indexOf("#") + 1));
  await page.goto(`${url}/developers/audit`);
  await page.getByText("Make a sign-in link").last().waitFor();
  expect(await page.content()).not.toContain(link.slice(link.indexOf("#") + 1));

  const invited = await browser.open();
  await invited.page.goto(link);
  await invited.page.getByText("This link opens").waitFor();
  await invited.page.getByRole("button", { name: `Sign in as ${email}` }).click();
  await invited.page.waitForURL("**/developers");
  await invited.page.getByRole("banner").getByRole("button", { name: email }).click();
  await invited.page.getByText(/This session shows .* only/).waitFor();
  expect(await invited.page.getByLabel("Brand", { exact: true }).count()).toBe(0);
  const refused = await invited.page.evaluate<number>(
    `fetch("/console/api/keys.list", { method: "POST", headers: { "content-type": "application/json" }, body: ${JSON.stringify(JSON.stringify({ brand_id: other.id }))} }).then(({ status }) => status)`,
  );
  expect(refused).toBe(404);
  expectNoProblems(400, 409);
  invited.expectNoProblems(404);

  await remove(brand, email);
  await invited.page.goto(`${url}/developers/keys`);
  await invited.page.waitForURL("**/sign-in?**");
});

it("a person of two brands switches between them, and nothing of the other brand stays", async () => {
  const [one, two] = [await stack.createBrand(), await stack.createBrand()];
  const email = newEmail();
  for (const brand of [one, two]) await add(brand, email, "owner");
  const person = await signIn(stack, url, email);
  for (const [brand, name] of [
    [one, "Key of one"],
    [two, "Key of two"],
  ] as const) {
    await person.call("keys.create", { brand_id: brand.id, name, may_prepare: false });
  }
  const { page, expectNoProblems } = await openAs(browser, url, person);
  await page.goto(`${url}/developers/keys`);
  const switcher = page.getByLabel("Brand", { exact: true });
  await switcher.selectOption(one.id);
  await page.getByText("Key of one").waitFor();
  expect(await page.getByText("Key of two").count()).toBe(0);
  await page.goto(`${url}/developers/audit?action=key.create&actor=${encodeURIComponent(email)}`);
  await page.getByText("Key of one").waitFor();
  await switcher.selectOption(two.id);
  await page.getByText("Key of two").waitFor();
  expect([await page.getByText("Key of one").count(), new URL(page.url()).search]).toEqual([0, ""]);
  await page.reload();
  await page.getByText("Key of two").waitFor();
  expect(await shownBrand(page)).toBe(two.id);
  // A dialog belongs to the brand: as long as it is open, the switcher is out of reach.
  await page.goto(`${url}/developers/members`);
  await page.getByRole("button", { name: "Add member" }).click();
  await page.getByRole("dialog").waitFor();
  const box = await switcher.boundingBox();
  const covering = `document.elementFromPoint(${(box?.x ?? 0) + 20}, ${(box?.y ?? 0) + 10})?.tagName`;
  expect(await page.evaluate(covering)).not.toBe("SELECT");
  expectNoProblems();
});

it("an owner makes a member an owner, steps down and leaves, but not as the last owner", async () => {
  const { brand, email } = await brandWithMember();
  const { page, expectNoProblems } = await openMembers(brand.owner);
  const dialog = page.getByRole("dialog");
  // Says what cannot happen before it is tried, and names no consequence of it.
  for (const button of ["Change role", "Leave"]) {
    await page.getByRole("button", { name: `${button}: ${brand.owner}` }).click();
    await dialog.getByText("would leave the brand without an owner").waitFor();
    expect(await dialog.getByRole("button").allInnerTexts()).toEqual(["", "Close"]);
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await dialog.waitFor({ state: "detached" });
  }
  await page.getByRole("button", { name: `Change role: ${email}` }).click();
  await dialog.getByRole("button", { name: "Make an owner" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("cell", { name: "Member", exact: true }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: `Change role: ${brand.owner}` }).click();
  await dialog.getByRole("button", { name: "Make a member" }).click();
  await page.getByText("Owners of the brand add and remove members").waitFor();
  expect([await page.getByRole("button", { name: "Add member" }).count(), await dialog.count()]).toEqual([0, 0]);

  const second = await openMembers(email);
  await second.page.getByRole("button", { name: `Change role: ${brand.owner}` }).click();
  await second.page.getByRole("dialog").getByRole("button", { name: "Make an owner" }).click();
  await second.page.getByRole("dialog").waitFor({ state: "detached" });
  await second.page.getByRole("button", { name: `Leave: ${email}` }).click();
  await second.page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await second.page.waitForURL("**/sign-in?**");
  const { members } = await stack.accounts.listMembers({ brand_id: brand.id }, callContext());
  expect(members.map((member) => [member.email, member.role])).toEqual([[brand.owner, "owner"]]);
  expectNoProblems(409, 403);
  second.expectNoProblems(401);
});

it("a member who becomes an owner gets an owner's buttons with the next reading of an open page", async () => {
  const { brand, email } = await brandWithMember();
  const { page, expectNoProblems } = await openAs(browser, url, await signIn(stack, url, email));
  await page.clock.install();
  await page.goto(`${url}/developers/members`);
  await page.getByText("Owners of the brand add and remove members").waitFor();
  await stack.accounts.setMemberRole({ brand_id: brand.id, email, role: "owner" }, callContext());
  await page.clock.runFor(15_000);
  await page.getByRole("button", { name: "Add member" }).waitFor();
  expectNoProblems();
});

it("a link that shows once stays when its owner is made a member, before or after it came, and nothing else of owners", async () => {
  for (const isComing of [true, false]) {
    const brand = await stack.createBrand();
    const [owner, email] = [newEmail(), newEmail()];
    await add(brand, owner, "owner");
    await add(brand, email);
    const { page, expectNoProblems } = await openAs(browser, url, await signIn(stack, url, owner));
    const { promise: isMade, resolve: noteMade } = Promise.withResolvers<void>();
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/console/api/members.link", async (route) => {
      const response = await route.fetch();
      noteMade();
      await isReleased;
      await route.fulfill({ response });
    });
    const demote = async (): Promise<void> => {
      await stack.accounts.setMemberRole({ brand_id: brand.id, email: owner, role: "member" }, callContext());
      await page.clock.runFor(15_000);
      await page.getByText("Owners of the brand add and remove members").waitFor();
    };
    await page.clock.install();
    await page.goto(`${url}/developers/members`);
    await page.getByRole("button", { name: `New link: ${email}` }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Make link" }).click();
    await isMade;
    if (isComing) await demote();
    release();
    const link = await dialog.getByText(/\/sign-in#/).innerText();
    if (!isComing) await demote();
    expect(await dialog.getByText(/\/sign-in#/).innerText()).toBe(link);
    await dialog.getByRole("button", { name: "I have sent it" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: "New link" }).count()).toBe(0);
    expectNoProblems();
  }
});

it("a link that shows once stays when it is another owner's, who becomes a member meanwhile", async () => {
  const brand = await stack.createBrand();
  const other = newEmail();
  await add(brand, other, "owner");
  const { page, expectNoProblems } = await openAs(browser, url, await signIn(stack, url, brand.owner));
  await page.clock.install();
  await page.goto(`${url}/developers/members`);
  await page.getByRole("button", { name: `New link: ${other}` }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Make link" }).click();
  const link = await dialog.getByText(/\/sign-in#/).innerText();
  await stack.accounts.setMemberRole({ brand_id: brand.id, email: other, role: "member" }, callContext());
  await page.clock.runFor(15_000);
  await page.getByRole("row", { name: other, includeHidden: true }).getByText("Member", { exact: true }).waitFor();
  expect(await dialog.getByText(/\/sign-in#/).innerText()).toBe(link);
  await dialog.getByRole("button", { name: "I have sent it" }).click();
  await dialog.waitFor({ state: "detached" });
  expectNoProblems();
});

it("a person signs out everywhere, once that is confirmed", async () => {
  const brand = await stack.createBrand();
  const [here, there] = [await openMembers(brand.owner), await openMembers(brand.owner)];
  await here.page.getByRole("banner").getByRole("button", { name: brand.owner }).click();
  await here.page.getByRole("button", { name: "Sign out everywhere" }).click();
  await here.page.getByRole("button", { name: "Sign out of all" }).click();
  await here.page.waitForURL("**/sign-in");
  await there.page.getByRole("link", { name: "API keys" }).click();
  await there.page.waitForURL("**/sign-in?**");
  here.expectNoProblems();
  there.expectNoProblems(401);
});

const focused = (page: Page, role: "button" | "heading", name: string): Promise<void> =>
  page.getByRole(role, { name, exact: true }).and(page.locator(":focus")).waitFor();

it("a change that is made offline fails at once, and is not made later", async () => {
  const { brand, email } = await brandWithMember();
  const { page } = await openMembers(brand.owner);
  await page.getByRole("button", { name: `Remove: ${email}` }).click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await page.context().setOffline(true);
  await dialog.getByRole("button", { name: "Remove member" }).click();
  await dialog.getByText("The service could not be reached").waitFor();
  await dialog.getByText("may have been removed all the same").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await focused(page, "button", `Remove: ${email}`);
  const read = page.waitForResponse("**/console/api/members.list");
  await page.context().setOffline(false);
  await read;
  expect((await stack.accounts.listMembers({ brand_id: brand.id }, callContext())).members).toHaveLength(2);
});

it("a dialog stays open while its change is pending, shows what became of it, and returns the focus", async () => {
  const brand = await stack.createBrand();
  const email = newEmail();
  const { page, expectNoProblems } = await openMembers(brand.owner);
  const held = await hold(page, "**/console/api/members.add");
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Add member" }).click();
  await dialog.getByLabel("E-mail address").fill(email);
  await dialog.getByRole("button", { name: "Add member" }).click();
  await held.asked;
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.getByText("Add a member").waitFor();
  held.release();
  await dialog.getByText(`${email} is a member now`).waitFor();
  await page.mouse.click(5, 5);
  await dialog.getByRole("button", { name: "Later" }).click();
  await focused(page, "button", "Add member");

  await remove(brand, email);
  await page.getByRole("button", { name: `Remove: ${email}` }).click();
  await dialog.getByRole("button", { name: "Remove member" }).click();
  await dialog.getByText("There is no such member").waitFor();
  await page.getByRole("cell", { name: email, exact: true }).waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await focused(page, "heading", "Members");
  expectNoProblems(404);
});

it("a sign-in link that has become unusable since it was opened offers no sign-in any more", async () => {
  const { brand, email } = await brandWithMember();
  const ofOwner = await (await signIn(stack, url, brand.owner)).call("members.link", { brand_id: brand.id, email });
  const opened = await Promise.all([ofOwner.url, await signInUrl(stack, url, email)].map(async (link) => openLink(link, email)));
  await remove(brand, email);
  for (const { page, button, expectNoProblems } of opened) {
    await button.click();
    await page.getByRole("heading", { name: /This link is not known|You are not a member/ }).waitFor();
    expect(await button.count()).toBe(0);
    expectNoProblems(404, 403);
  }
});

async function openLink(link: string, email: string) {
  const opened = await browser.open();
  await opened.page.goto(link);
  const button = opened.page.getByRole("button", { name: `Sign in as ${email}` });
  await button.waitFor();
  return { ...opened, button };
}
