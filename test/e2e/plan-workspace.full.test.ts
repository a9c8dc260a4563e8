import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Plan } from "@brand-records/console-contract";
import type { Locator, Page } from "playwright-core";
import type { TestBrowser, TestPage } from "../browser.ts";
import { hold, isInView, returnToTab, withConsole } from "../console.ts";
import { enter, openAs, signIn, signInUrl, type ConsoleCaller } from "../console-calls.ts";
import { endpointOf, IDENTITY, optionsWith, type ToolResult } from "../describe-assistants.ts";
import { keyboardOf, pointer, type Hand } from "../hands.ts";
import { planInput } from "../plan-input.ts";
import { callContext, type Stack, type TestBrand } from "../stack.ts";

/** One promise: a plan that an assistant has prepared is edited, completed or cancelled by people in the browser, and no edit is lost. */

let stack: Stack;
let browser: TestBrowser;
let brand: TestBrand;
let url: string;
let jun: string;
let owner: ConsoleCaller;
let other: ConsoleCaller;
let assistant: Client;

// Before the stack stops.
afterAll(() => assistant?.close());
withConsole({ env: { RATE_LIMIT_PLUS: "1000" } }, async (started) => {
  ({ stack, browser, url } = started);
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  // A word that no line of 360 px holds.
  jun = `jun.of.the.campaign.team.in.quezon.city@${brand.owner.split("@")[1]}`;
  await stack.accounts.addMember({ brand_id: brand.id, email: jun, role: "member" }, callContext());
  [owner, other] = await Promise.all([signIn(stack, url, brand.owner), signIn(stack, url, jun)]);
  assistant = new Client(IDENTITY);
  const server = { url: stack.url, key: brand.key };
  await assistant.connect(new StreamableHTTPClientTransport(endpointOf(server), optionsWith(server)));
});

type Prepared = Readonly<Record<"plan_id" | "review_path" | "status" | "title", string>>;

const callTool = async (input: object): Promise<ToolResult> =>
  (await assistant.callTool({ name: "prepare_campaign_plan", arguments: { ...input } })) as unknown as ToolResult;

async function prepare(input: object): Promise<Prepared> {
  const { isError, structuredContent, content } = await callTool(input);
  expect([isError ?? false, content[0]?.text]).toEqual([false, expect.any(String)]);
  return structuredContent as unknown as Prepared;
}

const read = async (plan_id: string): Promise<Plan> => (await owner.call("plans.get", { brand_id: brand.id, plan_id })).plan;

/** What the other member does without a browser. */
async function changeAsOther(plan_id: string, changes: object): Promise<void> {
  const { revision: expected_revision } = await read(plan_id);
  await other.call("plans.update", { brand_id: brand.id, plan_id, expected_revision, changes });
}

const open = (person: ConsoleCaller, options = {}): Promise<TestPage> => openAs(browser, url, person, options);
const stepTitle = (page: Page, name: string): Promise<void> => page.getByRole("heading", { level: 2, name, exact: true }).waitFor();
const save = (page: Page): Promise<void> => page.getByRole("button", { name: "Save and continue" }).click();
const expectFits = async (page: Page): Promise<void> =>
  expect([page.url(), await page.evaluate("document.documentElement.scrollWidth <= innerWidth")]).toEqual([page.url(), true]);

const button = (page: Page, name: string): Locator => page.getByRole("button", { name, exact: true });
const textbox = (page: Page, name: string | RegExp): Locator => page.getByRole("textbox", { name });

/** Prepared by an assistant, opened by its link, edited in each step, in conflict with another person's edit, completed. */
async function walk({ page, expectNoProblems }: TestPage, hand: Hand): Promise<void> {
  const given = planInput({ brief: "In the rain", requirements: ["Vertical"], notes: "Ours" });
  const { plan_id, review_path } = await prepare(given);
  await page.goto(url + review_path);
  await page.waitForURL("**/sign-in?**");
  // The link names no page. It mostly opens in another tab; here it replaces the page, whose address is lost just the same.
  await page.goto("about:blank");
  await page.goto(await signInUrl(stack, url, brand.owner));
  await hand.press(page.getByRole("button", { name: /^Sign in as/ }));
  await page.waitForURL(`**${review_path}`);

  await hand.type(textbox(page, "Title"), "Ulan at araw");
  await hand.type(textbox(page, "Goal"), "600,000 views\nbefore Christmas");
  await hand.choose(page.getByRole("radio", { name: "UGC" }));
  await hand.date(page.getByLabel("Planned for"), "2026-12-05");
  await page.getByText("Saturday, December 5, 2026").waitFor();
  await expectFits(page);
  await hand.press(button(page, "Save and continue"));

  await stepTitle(page, "Budget");
  expect(new URL(page.url()).pathname).toBe(`/workspaces/ugc/plans/${plan_id}`);
  await page.getByRole("heading", { name: "Budget", exact: true }).and(page.locator(":focus")).waitFor();
  await hand.type(textbox(page, /^Budget/), "₱ 1,234,567.5");
  await hand.press(button(page, "Save and continue"));

  await stepTitle(page, "Creative");
  await hand.press(button(page, "Add a requirement"));
  await page.keyboard.insertText("Captions");
  await hand.press(page.getByRole("button", { name: "Move up: requirement 2" }));
  await hand.press(button(page, "Add a platform"));
  await page.keyboard.insertText("tiktok");
  await expectFits(page);
  await hand.press(button(page, "Save and continue"));

  await stepTitle(page, "Notes");
  await hand.type(textbox(page, "Notes"), "Mine");
  // Another person, in a browser of their own, is faster, and changes the budget too.
  const theirs = await open(other);
  await theirs.page.goto(`${url}${review_path}?step=notes`);
  await textbox(theirs.page, "Notes").fill("Theirs");
  await save(theirs.page);
  await stepTitle(theirs.page, "Review");
  await changeAsOther(plan_id, { planning_budget_centavos: 9_000_000 });
  theirs.expectNoProblems();
  await theirs.page.close();
  await hand.press(button(page, "Save and continue"));
  await stepTitle(page, "Choose what to keep");
  await page.getByRole("group", { name: "Theirs: Notes" }).getByText("Theirs", { exact: true }).waitFor();
  await page.getByText("changed “Budget”").waitFor();
  await expectFits(page);
  await hand.choose(page.getByRole("radio", { name: "Mine" }));
  await hand.press(button(page, "Save my choices"));

  await stepTitle(page, "Review");
  await page.getByText("₱90,000.00").last().waitFor();
  await page.getByText("600,000 views\nbefore Christmas").waitFor();
  await expectFits(page);
  for (const box of await page.getByRole("checkbox").all()) expect(await box.isChecked()).toBe(false);
  for (const box of await page.getByRole("checkbox").all()) await hand.press(box);
  await hand.press(button(page, "Complete plan"));
  const result = page.getByText("Nothing was published, funded or paid.");
  await result.waitFor();
  await page.getByRole("heading", { level: 1 }).and(page.locator(":focus")).waitFor();
  expect([await isInView(page.locator(":focus")), await isInView(result)]).toEqual([true, true]);
  await page.getByText(`by ${brand.owner}`).waitFor();
  expect(await page.getByRole("textbox").count()).toBe(0);
  await expectFits(page);

  expect(await read(plan_id)).toMatchObject({
    status: "completed",
    title: "Ulan at araw",
    goal: "600,000 views\nbefore Christmas",
    campaign_type: "ugc",
    planned_for: "2026-12-05",
    review_on: given.review_on,
    planning_budget_centavos: 9_000_000,
    brief: "In the rain",
    requirements: ["Captions", "Vertical"],
    platforms: ["tiktok"],
    notes: "Mine",
    closed_by: brand.owner,
  });
  // The assistant tries again.
  expect(await prepare(given)).toMatchObject({ plan_id, status: "completed", title: "Ulan at araw" });
  // The save that met the other person's.
  expectNoProblems(409, 401);
}

describe("a plan from an assistant's client to its completion, with a conflict", () => {
  it("by pointer", async () => walk(await browser.open(), pointer), 90_000);

  it("by the keyboard alone", async () => {
    const opened = await browser.open({ locale: "en-US" });
    await walk(opened, keyboardOf(opened.page));
  });

  it("on a screen of 360 px", async () => walk(await browser.open({ viewport: { width: 360, height: 740 } }), pointer), 90_000);
});

it("a step's buttons show with its fields, however slowly these load", async () => {
  const { review_path } = await prepare(planInput());
  const { page, expectNoProblems } = await open(owner);
  const held = await hold(page, "**/assets/basics-*.js");
  await page.goto(url + review_path);
  await page.getByRole("group", { name: "Loading" }).waitFor();
  expect(await button(page, "Save and continue").count()).toBe(0);
  held.release();
  await textbox(page, "Title").waitFor();
  await button(page, "Save and continue").waitFor();
  expectNoProblems();
});

it("a plan that is cancelled here cannot be prepared again", async () => {
  const given = planInput();
  const { review_path } = await prepare(given);
  const { page, expectNoProblems } = await open(owner);
  await page.goto(url + review_path);
  await button(page, "Cancel plan").click();
  await page.getByRole("dialog").getByText("asks for the same plan again, it is refused").waitFor();
  expect(await page.getByRole("dialog").innerText()).not.toContain("request_conflict");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel plan" }).click();
  await page.getByText(`by ${brand.owner}`).waitFor();
  const { isError, content } = await callTool(given);
  expect([isError, JSON.parse(content[0]?.text ?? "")]).toEqual([
    true,
    { error: expect.objectContaining({ code: "request_conflict" }) as unknown },
  ]);
  expectNoProblems();
});

it("any edit clears the confirmations: one of another person's refuses the completion, and one of mine", async () => {
  const { plan_id, review_path } = await prepare(planInput());
  const { page, expectNoProblems } = await open(owner);
  await page.goto(`${url}${review_path}?step=review`);
  const confirmAll = async (): Promise<void> => {
    for (const name of ["What creators are paid", "We have the rights", "We will fund"]) await page.getByLabel(name).check();
  };
  const confirmed = (): Promise<number> => page.getByRole("checkbox", { checked: true }).count();
  await page.getByRole("checkbox").first().waitFor();
  await button(page, "Complete plan").click();
  await page.getByText("3 things need your attention").waitFor();
  await confirmAll();
  await changeAsOther(plan_id, { summary: "Another" });
  await button(page, "Complete plan").click();
  await page.getByText(`${jun} changed “Summary”`).waitFor();
  expect(await confirmed()).toBe(0);
  expect((await read(plan_id)).status).toBe("pending");
  await confirmAll();
  await page.getByRole("link", { name: "Edit Notes" }).click();
  await textbox(page, "Notes").fill("Later");
  await save(page);
  await stepTitle(page, "Review");
  expect(await confirmed()).toBe(0);
  expectNoProblems(409);
});

describe("a plan of the largest size, with markup, emoji and right-to-left text in every field", () => {
  const UNIT = "<script>alert(1)</script><img src=x onerror=alert(2)> حملة الشتاء \u202Eשלום 👩‍👩‍👧‍👦🌧️ ";
  const ofLength = (length: number, line = UNIT): string => {
    const characters = Array.from(line.repeat(Math.ceil(length / Array.from(line).length)));
    return `${characters.slice(0, length - 1).join("")}.`;
  };
  const lines = `${UNIT}\n\n  two blanks, a tab\tand${"long".repeat(40)}\n`;
  const LARGEST = {
    title: ofLength(200),
    goal: ofLength(2_000, lines),
    planning_budget: 1_000_000_000,
    summary: ofLength(2_000, lines),
    brief: ofLength(20_000, lines),
    requirements: Array.from({ length: 50 }, (_, index) => ofLength(500, `${index}: ${lines}`)),
    platforms: Array.from({ length: 20 }, (_, index) => ofLength(64, `${index}: ${UNIT}`)),
    notes: ofLength(5_000, lines),
  };

  it("shows as text, and is saved unchanged", async () => {
    const { plan_id, review_path } = await prepare(planInput(LARGEST));
    const before = await read(plan_id);
    const { page, expectNoProblems } = await open(owner, { viewport: { width: 360, height: 740 } });
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    await page.goto(`${url}${review_path}?step=review`);
    await stepTitle(page, "Review");
    await page.getByRole("checkbox").first().waitFor();
    const shown = await page.locator("dd").allTextContents();
    // Written out, a character that turns the direction of what follows cannot make it read as another text.
    const asShown = (text: string): string => text.replaceAll("\u202E", "[U+202E]");
    const texts = [LARGEST.title, LARGEST.goal, LARGEST.summary, LARGEST.brief, LARGEST.notes];
    expect(shown).toEqual(expect.arrayContaining(texts.map(asShown)));
    expect(await page.locator("dd li").allTextContents()).toEqual([...LARGEST.requirements, ...LARGEST.platforms].map(asShown));
    await expectFits(page);

    /** Edits each text and saves it, then does the same with the text that it was. */
    const saveTwice = async (step: string, next: string, fields: Readonly<Record<string, string>>): Promise<void> => {
      for (const suffix of ["!", "."]) {
        await page.goto(`${url}${review_path}?step=${step}`);
        for (const [name, text] of Object.entries(fields)) await textbox(page, name).fill(text.slice(0, -1) + suffix);
        await save(page);
        await stepTitle(page, next);
      }
    };
    await saveTwice("basics", "Budget", { Title: LARGEST.title, Goal: LARGEST.goal });
    await saveTwice("creative", "Notes", {
      Summary: LARGEST.summary,
      Brief: LARGEST.brief,
      "Requirement 50": LARGEST.requirements[49] ?? "",
      "Platform 20": LARGEST.platforms[19] ?? "",
    });
    await saveTwice("notes", "Review", { Notes: LARGEST.notes });
    const { revision, edited_by, edited_at, updated_at, ...content } = await read(plan_id);
    expect(revision).toBe(before.revision + 6);
    expect([edited_by, edited_at, updated_at]).toEqual([brand.owner, updated_at, expect.any(String)]);
    expect(content).toEqual({
      ...content,
      ...Object.fromEntries(
        Object.keys(LARGEST)
          .filter((name) => name in before)
          .map((name) => [name, before[name as keyof Plan]]),
      ),
    });
    expect(dialogs).toEqual([]);
    expectNoProblems();
  });
});

it("keeps edits that cannot be saved: when the response is lost, the session ends, or the plan is closed meanwhile", async () => {
  const { plan_id, review_path } = await prepare(planInput());
  const { page, expectNoProblems } = await open(owner);
  await page.goto(url + review_path);
  await textbox(page, "Goal").fill("Saved, but not heard of");
  await page.route("**/console/api/plans.update", async (route) => {
    await route.fetch();
    await route.fulfill({ status: 503, json: { error: { code: "unavailable", message: "No response came.", request_id: "lost" } } });
  });
  await save(page);
  await page.getByText("It may have been saved all the same").waitFor();
  expect(await read(plan_id)).toMatchObject({ goal: "Saved, but not heard of", revision: 2 });
  await page.unroute("**/console/api/plans.update");
  await save(page);
  await stepTitle(page, "Budget");
  expect((await read(plan_id)).revision).toBe(2);

  await textbox(page, /^Budget/).fill("80,000");
  await stack.sessions.endSessionsOf({ email: brand.owner }, callContext());
  await save(page);
  const dialog = page.getByRole("dialog", { name: "You are signed out" });
  await dialog.waitFor();
  owner = await signIn(stack, url, brand.owner);
  await enter(page, url, owner);
  await dialog.getByRole("button", { name: "Stay" }).click();
  await save(page);
  await stepTitle(page, "Creative");
  expect((await read(plan_id)).planning_budget_centavos).toBe(8_000_000);

  await textbox(page, "Summary").fill("Two lines\nthat took a while");
  const { revision: expected_revision } = await read(plan_id);
  await other.call("plans.cancel", { brand_id: brand.id, plan_id, expected_revision });
  await save(page);
  await page.getByText("What you had not saved").waitFor();
  await page.getByText("Two lines\nthat took a while").waitFor();
  await page.getByText(`by ${jun}`).waitFor();
  expectNoProblems(401, 409, 503);
});

it("completes what the review shows: edits made during a save stay in sight, and are saved or discarded first", async () => {
  const { plan_id, review_path } = await prepare(planInput({ notes: "Prepared" }));
  const { page, expectNoProblems } = await open(owner);
  await page.goto(`${url}${review_path}?step=review`);
  for (const name of ["What creators are paid", "We have the rights", "We will fund"]) await page.getByLabel(name).check();
  await page.getByRole("link", { name: "Edit Notes" }).click();
  const notes = textbox(page, "Notes");
  await notes.fill("Sent");
  let answer = (): void => undefined;
  const isSlow = new Promise<void>((resolve) => (answer = resolve));
  await page.route("**/console/api/plans.update", async (route) => {
    await isSlow;
    await route.continue();
  });
  await save(page);
  await button(page, "Saving…").waitFor();
  await notes.fill("Sent, and more");
  answer();
  await page.getByText("Saved, except what you have edited since: save again").waitFor();
  expect([await notes.inputValue(), (await read(plan_id)).notes]).toEqual(["Sent, and more", "Sent"]);
  await page.unroute("**/console/api/plans.update");
  await page.getByRole("link", { name: "Review" }).click();
  await page.getByRole("dialog", { name: "Save your edits?" }).getByRole("button", { name: "Discard" }).click();
  await stepTitle(page, "Review");
  await page.locator("dd").getByText("Sent", { exact: true }).waitFor();
  for (const name of ["What creators are paid", "We have the rights", "We will fund"]) await page.getByLabel(name).check();
  // An edit that is discarded clears them as well.
  await page.getByRole("link", { name: "Edit Notes" }).click();
  await notes.fill("Not kept");
  await page.getByRole("link", { name: "Review" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
  await page.getByText("The plan was edited after you confirmed").waitFor();
  expect(await page.getByRole("checkbox", { checked: true }).count()).toBe(0);
  expectNoProblems();
});

it("refuses a change of another person who signed in in another tab, and keeps what was typed", async () => {
  const { plan_id, review_path } = await prepare(planInput());
  const { page, expectNoProblems } = await open(owner);
  await page.goto(`${url}${review_path}?step=notes`);
  await textbox(page, "Notes").fill("Of the owner");
  await enter(page, url, other);
  await save(page);
  await page.getByRole("heading", { level: 1, name: `${jun} is signed in now` }).waitFor();
  await page.getByText("What you had not saved").waitFor();
  await page.getByText("Of the owner", { exact: true }).waitFor();
  expect((await read(plan_id)).notes).toBeNull();
  await button(page, `Continue as ${jun}`).click();
  await textbox(page, "Notes").fill("Of the owner, by Jun");
  await save(page);
  await stepTitle(page, "Review");
  expect(await read(plan_id)).toMatchObject({ notes: "Of the owner, by Jun", edited_by: jun });
  expectNoProblems(409);
});

/** Somebody who is removed from the first brand and goes on with another. */
async function memberOfTwo() {
  const second = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  const email = `leaves@${second.owner.split("@")[1]}`;
  for (const brand_id of [brand.id, second.id]) await stack.accounts.addMember({ brand_id, email, role: "member" }, callContext());
  return { email, leaver: await signIn(stack, url, email) };
}

it("keeps what is typed when a step cannot be loaded, or the person is removed from the brand", async () => {
  const { leaver, email } = await memberOfTwo();
  const { plan_id, review_path } = await prepare(planInput());
  const { page, expectNoProblems } = await open(leaver);
  let isBroken = true;
  await page.route("**/creative-*.js", (route) => (isBroken ? route.fulfill({ status: 404, body: "" }) : route.continue()));
  await page.goto(`${url}${review_path}?step=budget`);
  await textbox(page, /^Budget/).fill("80,000");
  await save(page);
  await page.getByText("This part of the page could not be loaded.").waitFor();
  isBroken = false;
  await button(page, "Try again").click();
  await textbox(page, "Summary").fill("A text that\ntook a while");
  await stack.accounts.removeMember({ brand_id: brand.id, email }, callContext());
  await save(page);
  await page.getByRole("heading", { level: 1, name: "You are no longer a member of" }).waitFor();
  await page.getByText("A text that\ntook a while").waitFor();
  expect((await read(plan_id)).planning_budget_centavos).toBe(8_000_000);
  expectNoProblems(403, 404);
});

it("keeps what is typed when the search or a dialog cannot be loaded, and what shows it after a removal is there by then", async () => {
  const { leaver, email } = await memberOfTwo();
  const { review_path } = await prepare(planInput());
  const { page, expectNoProblems } = await open(leaver);
  // A new version of the console has replaced the files of this one: that of the search before it was loaded, the others later.
  let isReplaced = true;
  const replace = (files: string) =>
    page.route(files, (route) => (isReplaced ? route.fulfill({ status: 404, body: "" }) : route.continue()));
  await replace("**/console/assets/find-dialog-*.js");
  await page.goto(`${url}${review_path}`);
  await stepTitle(page, "Basics");
  const loaded = page.waitForResponse("**/interruption-*.js");
  await textbox(page, "Title").fill("A title that took a while");
  await loaded;
  await replace("**/console/assets/*.js");
  await page.keyboard.press("Control+k");
  await page.getByText("This part of the page could not be loaded.").waitFor();
  await button(page, "Close").click();
  expect(await textbox(page, "Title").inputValue()).toBe("A title that took a while");
  await stack.accounts.removeMember({ brand_id: brand.id, email }, callContext());
  await save(page);
  await page.getByRole("heading", { level: 1, name: "You are no longer a member of" }).waitFor();
  await page.getByText("A title that took a while").waitFor();
  isReplaced = false;
  expectNoProblems(403, 404);
});

it("shows the first step, and the pending plans, for a URL that names what does not exist", async () => {
  const { review_path } = await prepare(planInput());
  const { page, expectNoProblems } = await open(owner);
  for (const search of ["step=zzz", "step=notes&step=review"]) {
    await page.goto(`${url}${review_path}?${search}`);
    await stepTitle(page, "Basics");
  }
  await page.goto(`${url}/workspaces?status=bogus`);
  await page.getByText(/^\d+ of 200 pending$/).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  expectNoProblems();
});

it("asks before unsaved edits are left", async () => {
  const { review_path } = await prepare(planInput());
  const { page, expectNoProblems } = await open(owner);
  await page.goto(url + review_path);
  await textbox(page, "Title").fill("Edited");
  const leave = async (choice: string): Promise<void> => {
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByRole("dialog", { name: "Save your edits?" }).getByRole("button", { name: choice, exact: true }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  await leave("Stay");
  expect(await textbox(page, "Title").inputValue()).toBe("Edited");
  // The same holds for the browser's Back, and if the plan is read again.
  await returnToTab(page);
  await leave("Save");
  await page.waitForURL("**/developers/keys");
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Edited" }).waitFor();
  await textbox(page, "Title").fill("Not kept");
  await leave("Discard");
  await page.waitForURL("**/developers/keys");
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Edited" }).waitFor();
  expectNoProblems();
});

it("lists plans by state, leads from an outdated link to the plan, and shows nothing of another brand's", async () => {
  const stranger = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  const visitor = await signIn(stack, url, stranger.owner);
  const { plan_id, review_path, title } = await prepare(planInput({ title: "Listed" }));
  const { plan_id: done } = await prepare(planInput({ title: "Done" }));
  const confirmed = { confirmed_pay: true, confirmed_rights: true, confirmed_funding: true };
  await owner.call("plans.complete", { brand_id: brand.id, plan_id: done, expected_revision: 1, ...confirmed });
  const mine = await open(owner);
  await mine.page.goto(`${url}/workspaces`);
  await mine.page.getByText(/^\d+ of 200 pending$/).waitFor();
  await mine.page.getByRole("link", { name: title }).click();
  await mine.page.waitForURL(`**${review_path}`);
  await mine.page.goto(`${url}/workspaces?status=completed`);
  await mine.page.getByRole("link", { name: "Done", exact: true }).waitFor();
  expect(await mine.page.getByRole("link", { name: title }).count()).toBe(0);
  const filters = mine.page.getByRole("navigation", { name: "State of the plans" });
  expect(await filters.locator("[aria-current]").allTextContents()).toEqual(["Completed"]);
  await mine.page.goto(`${url}/workspaces/package/plans/${plan_id}?step=notes`);
  await mine.page.waitForURL(`**${review_path}?step=notes`);
  mine.expectNoProblems();
  const theirs = await open(visitor);
  for (const id of [plan_id, "pln_unknown"]) {
    await theirs.page.goto(`${url}/workspaces/blitz/plans/${id}`);
    await theirs.page.getByText("Nothing is here").waitFor();
  }
  await theirs.page.goto(`${url}/workspaces`);
  await theirs.page.getByText("0 of 200 pending").waitFor();
  await theirs.page.getByRole("main").getByRole("link", { name: "Connect an assistant" }).waitFor();
  theirs.expectNoProblems(404);
});
