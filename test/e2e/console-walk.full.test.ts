import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@brand-records/postgres/embedded";
import { eventually } from "@brand-records/testkit";
import type { Page } from "playwright-core";
import { brandctl as runBrandctl } from "../command-line.ts";
import { startReceivers, type ReceiverServer } from "../receivers.ts";
import { startBrowser, type TestBrowser, type TestPage } from "../browser.ts";

/** One promise: a first visit to the console works, from `npm start` to a delivery that was sent again. */

interface RunFile {
  readonly base_url: string;
  readonly console: { readonly url: string; readonly sign_in_url: string };
  readonly brands: readonly { readonly id: string; readonly owner: string; readonly keys: { readonly reporting: string } }[];
}

/** Seven seconds on an idle machine with two cores. */
const START_MS_MAX = 120_000;

let folder: string;
let env: Record<string, string>;
let launcher: ChildProcess;
let output = "";
let browser: TestBrowser;
let opened: TestPage;
let page: Page;
let run: RunFile;
let receiver: ReceiverServer;
/** Keys, tokens and secrets that the walk has seen. */
const secrets: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "walk-"));
  // Under root, Postgres runs as another user, who must be able to enter it.
  await chmod(folder, 0o755);
  env = { PATH: process.env["PATH"] ?? "", PORT: String(await freePort()), LOCAL_DIR: folder };
  launcher = spawn(process.execPath, ["deploy/embedded/dist/main.js"], { env, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [launcher.stdout, launcher.stderr]) stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  receiver = await startReceivers();
  [browser] = await Promise.all([startBrowser(), waitForStart()]);
  run = JSON.parse(await readFile(join(folder, "run.json"), "utf8")) as RunFile;
  opened = await browser.open();
  page = opened.page;
}, 2 * START_MS_MAX);
afterAll(async () => {
  await browser?.stop();
  receiver?.stop();
  if (launcher.exitCode === null) {
    const exited = once(launcher, "exit");
    launcher.kill("SIGINT");
    await exited;
  }
  await rm(folder, { recursive: true, force: true });
});

async function waitForStart(): Promise<void> {
  await eventually(
    () => {
      if (launcher.exitCode !== null) throw new Error(`ended with ${launcher.exitCode}:\n${output}`);
      expect(output).toContain("is running at");
    },
    { timeoutMs: START_MS_MAX },
  );
}

/** Runs brandctl as in another terminal. */
async function brandctl(...args: string[]): Promise<void> {
  expect(await runBrandctl(args, { env })).toMatchObject({ code: 0 });
}

/** A mark that a reload would remove. */
const markDocument = (): Promise<unknown> => page.evaluate("globalThis.isSameDocument = true");
const expectNoReload = async (): Promise<void> => expect(await page.evaluate("globalThis.isSameDocument")).toBe(true);

it("signs in with the printed link", async () => {
  expect(output).toContain(run.console.sign_in_url);
  secrets.push(run.console.sign_in_url.replace(/^.*[/#=]/, ""));
  await page.goto(run.console.sign_in_url);
  await page.getByRole("button", { name: `Sign in as ${run.brands[0]?.owner}` }).click();
  await page.waitForURL(`${run.console.url}/developers`);
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
});

it("creates a key that calls the API", async () => {
  await page.getByRole("link", { name: "API keys" }).first().click();
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("Walk");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  const key = (await page.getByText(/^brk_live_\w+$/).textContent()) ?? "";
  secrets.push(key);
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("button", { name: "Revoke Walk" }).waitFor();
  const response = await fetch(`${run.base_url}/api/v1/campaigns?limit=1`, { headers: { authorization: `Bearer ${key}` } });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ resource: "campaigns", count: 1 });
});

it("registers a receiver, and shows each delivery to it without a reload", async () => {
  await page.getByRole("link", { name: "Receivers" }).first().click();
  await page.getByRole("link", { name: "Register receiver" }).click();
  await page.getByRole("textbox", { name: "URL" }).fill(`${receiver.url}events`);
  await page.getByRole("textbox", { name: "Label" }).fill("My receiver");
  await page.getByRole("checkbox", { name: "A submission was approved" }).check();
  await page.getByRole("button", { name: "Register receiver" }).click();
  secrets.push(await page.getByText(/^whsec_/).innerText());
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByText("No deliveries yet").waitFor();
  await markDocument();

  const key = run.brands[0]?.keys.reporting ?? "";
  const submissions = await fetch(`${run.base_url}/api/v1/submissions?limit=200`, { headers: { authorization: `Bearer ${key}` } });
  const { data } = (await submissions.json()) as { data: { id: string; status: string }[] };
  const pending = data.find(({ status }) => status === "pending")?.id ?? "";
  await brandctl("records", "set-status", "submission", pending, "approved");
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  const delivery = page.getByRole("row", { name: /submission\.approved/ });
  // Less than the 15 s at which an idle list is read.
  await delivery.getByText("Delivered").waitFor({ timeout: 12_000 });
  await expectNoReload();

  await delivery.getByRole("link").click();
  await page.getByText("Attempt 1", { exact: true }).waitFor();
  // A second press sends nothing more.
  await page.getByRole("button", { name: "Send again" }).dblclick();
  await page.getByText("Sent again from").waitFor();
  await page.getByRole("link", { name: /^the delivery of/ }).click();
  await page.getByRole("link", { name: /^Sent again at/ }).click();
  await eventually(() => expect(receiver.requests).toHaveLength(2));
  expect(new Set(receiver.requests.map(({ body }) => (JSON.parse(body) as { id: string }).id)).size).toBe(1);
  await page.getByRole("main").getByRole("link", { name: "My receiver" }).click();
  await eventually(async () => expect(await page.getByRole("row", { name: /submission\.approved.*Delivered/ }).count()).toBe(2));
  await expectNoReload();
  opened.expectNoProblems();
});

it("counts the call on the overview, whose set-up is complete", async () => {
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByText("Set-up complete: 4 of 4 steps").waitFor();
  // The gateway reports the call within 10 s, and the page reads it within 15 s more.
  await page.getByText("Requests per hour").waitFor({ timeout: 45_000 });
  await expectNoReload();
  opened.expectNoProblems();
});

it("exports the audit log of it, without a key, token or secret", async () => {
  // The session's; another cookie names the brand shown last.
  const cookies = (await page.context().cookies()).filter(({ httpOnly }) => httpOnly);
  expect(cookies.length).toBeGreaterThan(0);
  secrets.push(...cookies.map(({ value }) => value));
  for (const { keys } of run.brands) secrets.push(...Object.values(keys));
  const file = join(folder, "audit.ndjson");
  // The last 35 s are not exported yet.
  const text = await eventually(
    async () => {
      await brandctl("audit", "export", "--out", file);
      const exported = await readFile(file, "utf8");
      for (const action of ["session.sign_in_with_link", "key.create", "receiver.create"]) expect(exported).toContain(`"${action}"`);
      return exported;
    },
    // Each export starts a process.
    { timeoutMs: 60_000, everyMs: 1_000 },
  );
  expect(secrets.length).toBeGreaterThan(5);
  for (const secret of secrets) {
    expect(secret).toMatch(/^\S{20,}$/);
    expect(text).not.toContain(secret);
  }
});
