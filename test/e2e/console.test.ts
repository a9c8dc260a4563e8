import { OPERATIONS, type OperationName } from "@brand-records/console-contract";
import { METHODS } from "@brand-records/proto/methods";
import { eventually } from "@brand-records/testkit";
import { metricsOf } from "../admin-port.ts";
import type { TestBrowser } from "../browser.ts";
import { withConsole, wordAskedFor } from "../console.ts";
import { consoleCaller, openLink, signIn, signInUrl, type ConsoleCaller } from "../console-calls.ts";
import { planInput, postPlan } from "../plan-input.ts";
import { callContext, type Stack, type TestBrand } from "../stack.ts";

/** The calls that a service has served, by method. */
const callsServed = (metrics: string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const [, method = "", count] of metrics.matchAll(/^rpc_server_duration_seconds_count\{[^}]*method="[^"]*?(\w+)"[^}]*\} (\d+)$/gm)) {
    counts.set(method, (counts.get(method) ?? 0) + Number(count));
  }
  return counts;
};

/** One promise: owners and members can work in the console, and only owners can do what owners do. */

/** A test counts the calls to accounts: gateways make none of their own meanwhile. */
const QUIET = { USAGE_FLUSH_SECONDS: "300" };

let stack: Stack;
let browser: TestBrowser;
let brand: TestBrand;
let url: string;

withConsole({ env: QUIET }, async (started) => {
  ({ stack, browser, url } = started);
  brand = await stack.createBrand();
});

it("an owner signs in with a link, creates a key that reads the brand's records, and revokes it", async () => {
  const { page, expectNoProblems } = await browser.open();
  await page.goto(await signInUrl(stack, url, brand.owner));
  await page.getByRole("button", { name: `Sign in as ${brand.owner}` }).click();
  await page.getByRole("navigation").getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("Looker report");
  const calls: (string | undefined)[] = [];
  page.on("request", (request) => calls.push(/\/console\/api\/((?:keys|session)\..+)/.exec(request.url())?.[1]));
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  const secret = await page.getByText(/^brk_live_[A-Za-z0-9]{36}$/).innerText();
  // One call makes the change, and one reads the list again, which the secret does not wait for.
  await eventually(() => expect(calls.filter((name) => name !== undefined)).toEqual(["keys.create", "keys.list"]));
  const read = await stack.get("/api/v1/campaigns", secret);
  expect([read.status, read.headers.get("x-brand-id")]).toEqual([200, brand.id]);

  await page.keyboard.press("Escape");
  await page.evaluate("history.back()");
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("button", { name: "Revoke Looker report" }).click();
  const kept = await page.evaluate<string[]>(
    "[document.documentElement.outerHTML, ...Object.values(localStorage), ...Object.values(sessionStorage)]",
  );
  expect(kept.join()).not.toContain(secret);

  // Whether its use is recorded by now, is a matter of time.
  await page.getByRole("textbox", { name: /^Type the/ }).fill(await wordAskedFor(page));
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.getByText("1 revoked key").waitFor();
  expect((await stack.get("/api/v1/campaigns", secret)).status).toBe(401);
  expectNoProblems();
  await page.context().close();

  const { entries } = await stack.audit.listAudit(
    { brand_id: brand.id, actor: brand.owner, action: null, from: null, to: null, page_size: 0, page_token: null },
    callContext(),
  );
  expect(entries.map(({ action, outcome }) => [action, outcome])).toEqual([
    ["key.revoke", "done"],
    ["key.create", "done"],
    ["session.sign_in_with_link", "done"],
  ]);
  expect(entries.at(-1)).toMatchObject({ address: "127.0.0.1", browser: expect.stringMatching(/Chrom/) });
});

it("the audit log says what was done through an owner's link, whose session makes no links; who is no owner leaves", async () => {
  const { id: brand_id, owner } = await stack.createBrand();
  const [second, member] = [`second@${brand_id.slice(4)}.example`, `member@${brand_id.slice(4)}.example`];
  for (const [email, role] of [
    [second, "owner"],
    [member, "member"],
  ] as const) {
    await stack.accounts.addMember({ brand_id, email, role }, callContext());
  }
  const first = await signIn(stack, url, owner);
  const opened = await openLink(url, (await first.call("members.link", { brand_id, email: second })).url);
  await opened.call("keys.create", { brand_id, name: "Through a link", may_prepare: false });
  for (const email of [second, member, owner]) {
    expect(await opened.send("members.link", { brand_id, email })).toEqual({ status: 403, code: "limited_session" });
  }
  expect(await first.send("members.link", { brand_id, email: owner })).toEqual({ status: 400, code: "invalid_request" });
  await (await signIn(stack, url, member)).call("members.leave", { brand_id });
  const { entries } = await first.call("audit.list", { brand_id });
  // The operator made the brand with an owner and a key, two members, and two links. Refusals of one kind are one entry.
  expect(entries.map(({ action, actor, via, tries }) => [action, actor, via, tries])).toEqual([
    ["member.leave", member, null, 1],
    ["session.sign_in_with_link", member, null, 1],
    ["sign_in_link.create", null, null, 1],
    ["sign_in_link.create", second, owner, 3],
    ["key.create", second, owner, 1],
    ["session.sign_in_with_link", second, owner, 1],
    ["sign_in_link.create", owner, null, 1],
    ["session.sign_in_with_link", owner, null, 1],
    ["sign_in_link.create", null, null, 1],
    ["member.add", null, null, 1],
    ["member.add", null, null, 1],
    ["key.create", null, null, 1],
    ["member.add", null, null, 1],
    ["brand.create", null, null, 1],
  ]);
  const { members } = await first.call("members.list", { brand_id });
  expect(members.map(({ email }) => email).toSorted()).toEqual([owner, second].toSorted());
});

describe("a page", () => {
  it("has the policy with a nonce of its own, and is never stored", async () => {
    const [first, second] = await Promise.all([fetch(`${url}/developers`), fetch(`${url}/sign-in`)]);
    const policy = first.headers.get("content-security-policy") ?? "";
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
    expect(policy.replace(nonce, "N")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-N'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(Object.fromEntries(first.headers)).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
    });
    expect(await first.text()).toContain(`nonce="${nonce}"`);
    expect(second.headers.get("content-security-policy")).not.toBe(policy);
  });

  it("holds nothing of a person without a session, and nothing of another brand", async () => {
    const other = await signIn(stack, url, (await stack.createBrand()).owner);
    const read = async (path: string, cookie: string): Promise<string> => (await fetch(`${url}${path}`, { headers: { cookie } })).text();
    for (const cookie of ["", `session_${new URL(url).port}=${"A".repeat(43)}`, `${other.cookie}; brand=${brand.id}`]) {
      const html = await read("/developers/keys", cookie);
      expect([html.includes(brand.owner), html.includes(brand.id), html.includes(brand.keyId)]).toEqual([false, false, false]);
    }
    const { cookie: ownCookie } = await signIn(stack, url, brand.owner);
    // The server waits a second for what the page shows first, which a busy machine may need.
    await eventually(async () => {
      const own = await read("/developers/keys", ownCookie);
      expect([own.includes(brand.owner), own.includes(brand.keyId)]).toEqual([true, true]);
    });
  });

  it("has scripts that browsers keep", async () => {
    const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(await (await fetch(`${url}/developers`)).text())?.[1];
    const { status, headers } = await fetch(`${url}${script}`, { headers: { "accept-encoding": "gzip, deflate, br, zstd" } });
    expect([status, headers.get("cache-control"), headers.get("content-encoding")]).toEqual([
      200,
      "public, max-age=31536000, immutable",
      "br",
    ]);
    expect((await fetch(`${url}/console/assets/unknown.js`)).status).toBe(404);
  });

  it("lists its scripts for the gateways that look for one at another process", async () => {
    const script = /src="\/console\/assets\/([^"]+\.js)"/.exec(await (await fetch(`${url}/developers`)).text())?.[1];
    const names = (await (await fetch(`${url}/console/assets/`)).json()) as string[];
    expect(names).toContain(script);
    for (const name of names) expect([name, (await fetch(`${url}/console/assets/${name}`)).status]).toEqual([name, 200]);
  });

  it("under 127.0.0.1 leads to the host whose cookie it uses", async () => {
    const response = await fetch(`${stack.url}/developers/keys?x=1`, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([307, `${url}/developers/keys?x=1`]);
  });
});

describe("a campaign plan", () => {
  const NOTES = `ceiling-${Date.now()}`;
  let member: ConsoleCaller;
  let stranger: ConsoleCaller;
  let other: TestBrand;
  let email: string;

  beforeAll(async () => {
    email = `editor@${brand.id.slice(4)}.example`;
    other = await stack.createBrand();
    await stack.accounts.addMember({ brand_id: brand.id, email, role: "member", acting_member: null }, callContext());
    [member, stranger] = await Promise.all([signIn(stack, url, email), signIn(stack, url, other.owner)]);
  });

  /** Prepares a plan with a new key, as an integration does. */
  async function prepare(): Promise<string> {
    const { secret } = await stack.createKey(brand, { name: "Planner", permissions: ["campaigns:prepare"] });
    const response = await postPlan(stack.url, secret, planInput({ notes: NOTES }));
    expect(response.status).toBe(201);
    return ((await response.json()) as { plan_id: string }).plan_id;
  }

  it("is edited and completed by a member, on its revision only; the audit log and the logs have no word of its notes", async () => {
    const plan_id = await prepare();
    const ofPlan = { brand_id: brand.id, plan_id };
    expect(await member.call("session.locate", { id: plan_id })).toEqual({ brand_id: brand.id });
    const { plan } = await member.call("plans.get", ofPlan);
    expect(plan).toMatchObject({ notes: NOTES, revision: 1, prepared_by: "Planner", edited_by: null, status: "pending" });

    const changes = { title: "Edited", notes: `${NOTES} 😀`, requirements: ["one", "two"], planning_budget_centavos: 1 };
    const { plan: edited } = await member.call("plans.update", { ...ofPlan, expected_revision: 1, changes });
    expect(edited).toEqual({
      ...plan,
      ...changes,
      revision: 2,
      edited_by: email,
      edited_at: edited.edited_at,
      updated_at: edited.edited_at,
    });
    const late = { ...ofPlan, expected_revision: 1, changes: { title: "Late" } };
    expect(await member.send("plans.update", late)).toEqual({ status: 409, code: "plan_changed" });
    const badly = { ...ofPlan, expected_revision: 2, changes: { requirements: ["a", "x".repeat(501)], planning_budget_centavos: 0 } };
    await expect(member.call("plans.update", badly)).rejects.toThrow("planning_budget_centavos must be a number of pesos above 0");

    const confirmed = { confirmed_pay: true, confirmed_rights: true, confirmed_funding: true };
    const completion = { ...ofPlan, expected_revision: 2, ...confirmed };
    expect(await member.send("plans.complete", { ...completion, confirmed_funding: false })).toMatchObject({ code: "invalid_request" });
    expect(await member.send("plans.complete", { ...completion, expected_revision: 1 })).toMatchObject({ code: "plan_changed" });
    const { plan: completed } = await member.call("plans.complete", completion);
    expect(completed).toMatchObject({ status: "completed", closed_by: email, notes: changes.notes, revision: 3 });
    expect(await member.call("plans.complete", completion)).toEqual({ plan: completed });
    expect(await member.send("plans.cancel", { ...ofPlan, expected_revision: 3 })).toEqual({ status: 409, code: "plan_not_pending" });
    const { plans, pending_max } = await member.call("plans.list", { brand_id: brand.id, status: "completed" });
    expect([plans[0]?.id, plans[0]?.prepared_by, pending_max]).toEqual([plan_id, "Planner", 200]);
    expect(JSON.stringify(plans)).not.toContain(NOTES);

    const asked = { brand_id: brand.id, actor: email, action: null, from: null, to: null, page_size: 0, page_token: null };
    // What was refused for how the request was written is no entry, and neither is a repetition. Plans hands them over within a moment.
    const entries = await eventually(async () => {
      const { entries: listed } = await stack.audit.listAudit(asked, callContext());
      expect(
        listed.map(({ action, subject_id, outcome, error_kind, fields }) => [action, subject_id, outcome, error_kind, fields]),
      ).toEqual([
        ["plan.cancel", plan_id, "failed", "plan_not_pending", []],
        ["plan.complete", plan_id, "done", null, []],
        ["plan.complete", plan_id, "failed", "plan_changed", []],
        ["plan.update", plan_id, "failed", "plan_changed", ["title"]],
        ["plan.update", plan_id, "done", null, ["title", "planning_budget_centavos", "requirements", "notes"]],
        ["session.sign_in_with_link", email, "done", null, []],
      ]);
      return listed;
    });
    expect(JSON.stringify(entries)).not.toContain(NOTES);
    const processes = [
      ...Object.values(stack.processes),
      ...stack.gateways.flatMap((gateway) => [gateway.process, gateway.console?.process]),
    ];
    // Logs are written in batches.
    await eventually(() => expect(stack.gateways[0].console?.process.output()).toContain("/console/api/plans.cancel"));
    for (const process of processes) expect(process?.output()).not.toContain(NOTES);
  });

  it("does not exist for people of another brand, under either brand's id", async () => {
    const plan_id = await prepare();
    expect(await stranger.send("session.locate", { id: plan_id })).toEqual({ status: 404, code: "not_found" });
    for (const brand_id of [brand.id, other.id]) {
      const change = { brand_id, plan_id, expected_revision: 1 };
      for (const [name, input] of [
        ["plans.get", { brand_id, plan_id }],
        ["plans.update", { ...change, changes: { title: "Theirs" } }],
        ["plans.complete", { ...change, confirmed_pay: true, confirmed_rights: true, confirmed_funding: true }],
        ["plans.cancel", change],
      ] as const) {
        expect([name, await stranger.send(name, input)]).toEqual([name, { status: 404, code: "not_found" }]);
      }
    }
    expect(await member.call("plans.get", { brand_id: brand.id, plan_id })).toMatchObject({ plan: { revision: 1, status: "pending" } });
  });
});

/** Makes a record of every kind in an owner's brand. Returns an input that each operation takes. */
async function inputsOf(brand_id: string, email: string, caller: ConsoleCaller): Promise<(name: OperationName) => object> {
  const second = `second@${brand_id.slice(4)}.example`;
  const ofBrand = { brand_id };
  const { key } = await caller.call("keys.create", { brand_id, name: "Counted", may_prepare: true });
  const settings = { url: "https://hooks.example/events", label: "Counted", events: ["payout.paid"] };
  const { receiver } = await caller.call("receivers.create", { brand_id, ...settings });
  const ofReceiver = { brand_id, receiver_id: receiver.id };
  const { delivery_id, event_id } = await caller.call("receivers.test", { ...ofReceiver, type: "payout.paid", next: false });
  await eventually(async () => expect((await caller.call("receivers.get", ofReceiver)).receiver.last_delivery_at).not.toBeNull());
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const range = { from: since, to: new Date().toISOString() };
  const { replay } = await caller.call("replays.start", { ...ofReceiver, since, failed_only: false });
  const ofPlan = { brand_id, plan_id: "pln_unknown", expected_revision: 1 };
  const link = async () => ({ token: new URL(await signInUrl(stack, url, email)).hash.slice(1) });
  const inputs: Partial<Record<OperationName, object>> = {
    "sign_in.options": {},
    "sign_in.peek": await link(),
    "sign_in.redeem": await link(),
    "session.me": {},
    "session.locate": { id: key.id },
    "keys.create": { ...ofBrand, name: "Another", may_prepare: false },
    "keys.revoke": { ...ofBrand, key_id: key.id },
    "receivers.create": { ...ofBrand, ...settings, url: "https://hooks.example/others" },
    "receivers.update": { ...ofReceiver, label: "Renamed" },
    "receivers.enable": { ...ofReceiver, held: "release" },
    "receivers.rotate": { ...ofReceiver, replace: false },
    "receivers.activate": { ...ofReceiver, force: true },
    "receivers.send_waiting": { ...ofReceiver, all: true },
    "receivers.test": { ...ofReceiver, type: "payout.paid", next: false },
    "deliveries.get": { ...ofBrand, delivery_id },
    "deliveries.stats": { ...ofReceiver, ...range },
    "deliveries.replay": { ...ofBrand, delivery_id },
    "replays.count": { ...ofReceiver, since, failed_only: false },
    "replays.start": { ...ofReceiver, since, failed_only: false },
    "replays.cancel": { ...ofBrand, replay_id: replay.id },
    "events.get": { ...ofBrand, event_id },
    "members.add": { ...ofBrand, email: second, role: "member" },
    "members.set_role": { ...ofBrand, email: second, role: "owner" },
    "members.link": { ...ofBrand, email: second },
    "mail.set": { ...ofBrand, receivers: false },
    "members.remove": { ...ofBrand, email: second },
    "requests.failed": { ...ofBrand, ...range, bucket_minutes: 60 },
    "usage.get": { ...ofBrand, ...range, bucket_minutes: 60, by_key: true },
    "plans.get": { ...ofBrand, plan_id: "pln_unknown" },
    "plans.update": { ...ofPlan, changes: { title: "Counted" } },
    "plans.complete": { ...ofPlan, confirmed_pay: true, confirmed_rights: true, confirmed_funding: true },
    "plans.cancel": ofPlan,
    "session.sign_out": {},
    "session.sign_out_everywhere": {},
  };
  return (name) => inputs[name] ?? (/^(?:receivers\.(?!list)|deliveries|replays)/.test(name) ? ofReceiver : ofBrand);
}

describe("every operation", () => {
  /** Who calls, and what each operation's `needs` makes of it. */
  const callers: Record<string, { caller: ConsoleCaller; refusals: Record<string, string | undefined> }> = {};
  const operations = Object.entries(OPERATIONS) as [OperationName, (typeof OPERATIONS)[OperationName]][];

  beforeAll(async () => {
    const other = await stack.createBrand();
    callers["nobody"] = { caller: consoleCaller(url, ""), refusals: { session: "invalid_session", member: "invalid_session" } };
    callers["another brand's owner"] = { caller: await signIn(stack, url, other.owner), refusals: { member: "not_found" } };
    callers["an owner"] = { caller: await signIn(stack, url, brand.owner), refusals: {} };
  });

  it("refuses every caller that its table does not allow", async () => {
    for (const [who, { caller, refusals }] of Object.entries(callers)) {
      for (const [name, { needs }] of operations) {
        if (name === "session.sign_out" || (name === "members.leave" && refusals.member === undefined)) continue;
        // Nothing but the brand: what is allowed fails for its input, and changes nothing.
        const { code } = await caller.send(name, { brand_id: brand.id });
        const refusal = refusals[needs];
        const isAllowed = code === undefined || code === "invalid_request";
        expect([who, name, refusal ?? isAllowed]).toEqual([who, name, refusal === undefined ? true : code]);
      }
    }
  });

  it.each([
    ["no origin", { "content-type": "application/json" }, "origin_not_allowed"],
    ["another origin", { "content-type": "application/json", origin: "https://evil.example" }, "origin_not_allowed"],
    ["another site", { "content-type": "application/json", "sec-fetch-site": "cross-site" }, "origin_not_allowed"],
    ["another port of this host", { "content-type": "application/json", "sec-fetch-site": "same-site" }, "origin_not_allowed"],
    ["an address bar", { "content-type": "application/json", "sec-fetch-site": "none" }, "origin_not_allowed"],
    ["a form", { "content-type": "text/plain", "sec-fetch-site": "same-origin" }, "unsupported_media_type"],
  ])("refuses %s", async (_, headers, refusal) => {
    for (const [name] of operations) {
      expect([name, (await callers["an owner"]?.caller.send(name, {}, headers))?.code]).toEqual([name, refusal]);
    }
  });

  it("refuses a call for a page that shows another person, before it does anything; the person of the session passes", async () => {
    const key = (person: unknown) => ({ brand_id: brand.id, name: "Of whom?", may_prepare: false, person });
    const owner = callers["an owner"]?.caller as ConsoleCaller;
    for (const other of ["ñandú@example.ph", brand.owner.toUpperCase(), "", null]) {
      expect([other, await owner.send("keys.create", key(other))]).toEqual([other, { status: 409, code: "other_person" }]);
    }
    const { keys } = await owner.call("keys.list", { brand_id: brand.id });
    expect(keys.filter(({ name }) => name === "Of whom?")).toEqual([]);
    expect(await owner.send("keys.create", key(brand.owner))).toEqual({ status: 200, code: undefined });
  });

  it("accepts a browser that sends Origin without Sec-Fetch-Site", async () => {
    const headers = { "content-type": "application/json", origin: url };
    expect(await callers["an owner"]?.caller.send("session.me", {}, headers)).toEqual({ status: 200, code: undefined });
  });
});

it("what a member tries of an owner's changes is refused, changes nothing, and is one entry each of the audit log, which counts", async () => {
  const { id: brand_id, owner: email } = await stack.createBrand();
  const owner = await signIn(stack, url, email);
  const inputOf = await inputsOf(brand_id, email, owner);
  const memberEmail = `member@${brand_id.slice(4)}.example`;
  for (const added of [memberEmail, `second@${brand_id.slice(4)}.example`])
    await stack.accounts.addMember({ brand_id, email: added, role: "member" }, callContext());
  const member = await signIn(stack, url, memberEmail);
  const state = async () => {
    const { receivers } = await owner.call("receivers.list", { brand_id });
    const lists = receivers.map(({ id: receiver_id }) => owner.call("deliveries.list", { brand_id, receiver_id }));
    return {
      keys: await owner.call("keys.list", { brand_id }),
      members: await owner.call("members.list", { brand_id }),
      receivers: receivers.map(({ id, url: address, label, events, enabled, next_secret_at: next }) => [
        id,
        address,
        label,
        events,
        enabled,
        next,
      ]),
      deliveries: (await Promise.all(lists)).map(({ deliveries }) => deliveries.map(({ id }) => id)),
    };
  };
  const before = await state();
  const owners = Object.values(METHODS).flatMap(({ actor, callers, entry }) =>
    entry !== undefined && actor === "owner" && callers.includes("console") ? [entry.action] : [],
  );
  const refused: string[] = [];
  for (const [name, { needs }] of Object.entries(OPERATIONS) as [OperationName, (typeof OPERATIONS)[OperationName]][]) {
    if (needs !== "member" || name === "members.leave") continue;
    const answers = [await member.send(name, inputOf(name)), await member.send(name, inputOf(name))];
    if (answers[0]?.code === "owner_required") refused.push(name);
    expect([name, answers[1]?.code === "owner_required"]).toEqual([name, refused.includes(name)]);
  }
  // The log itself is an owner's to read. Members may remove themselves.
  expect(refused).toHaveLength(owners.length + ["audit.list", "mail.get", "members.remove"].length);
  expect(await state()).toEqual(before);
  await eventually(async () => {
    const { entries } = await owner.call("audit.list", { brand_id, actor: memberEmail });
    const tried = entries.filter(({ error_kind }) => error_kind === "owner_required");
    expect(tried.map(({ action, tries }) => `${action} ${tries}`).toSorted()).toEqual(
      [...owners, "member.remove"].map((action) => `${action} 2`).toSorted(),
    );
    expect(entries.filter(({ outcome }) => outcome === "done").map(({ action }) => action)).toEqual(["session.sign_in_with_link"]);
  });
});

describe("the calls to accounts of a click", () => {
  /** The methods of accounts that an action calls, sorted; one that is called twice stands there twice. */
  async function accountsCallsOf(act: () => Promise<unknown>): Promise<string[]> {
    const accounts = stack.processes.accounts;
    const before = callsServed(await metricsOf(accounts));
    await act();
    const after = callsServed(await metricsOf(accounts));
    const called = [...after].flatMap(([method, count]) => Array<string>(count - (before.get(method) ?? 0)).fill(method));
    return called.filter((method) => !OF_NO_CLICK.has(method)).toSorted();
  }
  /** Processes compare their clocks with that of accounts, and hand over what they have recorded, now and then. */
  const OF_NO_CLICK: ReadonlySet<string> = new Set(["GetTime", "RecordAudit"]);

  /** What an operation calls beside the session's GetSession: its own method of accounts, and a CheckGrant for each of another service. */
  const CALLS: Readonly<Record<OperationName, readonly string[]>> = {
    "sign_in.options": [],
    "sign_in.peek": ["PeekSignInLink"],
    "sign_in.redeem": ["RedeemSignInLink"],
    "session.me": [],
    "session.locate": ["FindBrand"],
    // Receivers, their deliveries as none was accepted, and plans.
    "overview.get": ["CheckGrant", "CheckGrant", "CheckGrant", "GetUsage", "ListKeys"],
    "keys.list": ["ListKeys"],
    "keys.create": ["CreateKey"],
    "keys.revoke": ["RevokeKey"],
    "receivers.list": ["CheckGrant"],
    "receivers.get": ["CheckGrant"],
    "receivers.create": ["CheckGrant"],
    "receivers.update": ["CheckGrant"],
    "receivers.enable": ["CheckGrant"],
    "receivers.disable": ["CheckGrant"],
    "receivers.rotate": ["CheckGrant"],
    "receivers.activate": ["CheckGrant"],
    "receivers.send_waiting": ["CheckGrant"],
    "receivers.test": ["CheckGrant"],
    "deliveries.list": ["CheckGrant"],
    "deliveries.get": ["CheckGrant"],
    "deliveries.stats": ["CheckGrant"],
    "deliveries.replay": ["CheckGrant"],
    "replays.count": ["CheckGrant"],
    "replays.start": ["CheckGrant"],
    "replays.latest": ["CheckGrant"],
    "replays.cancel": ["CheckGrant"],
    "receivers.delete": ["CheckGrant"],
    "events.list": ["CheckGrant"],
    "events.get": ["CheckGrant"],
    "members.list": ["ListMembers"],
    "members.add": ["AddMember"],
    "members.set_role": ["SetMemberRole"],
    "members.link": ["CreateSignInLink"],
    "members.remove": ["RemoveMember"],
    "members.leave": ["RemoveMember"],
    "mail.get": ["GetMailSettings"],
    "mail.set": ["SetMailSettings"],
    "audit.list": ["ListAudit"],
    "requests.list": ["ListRequests"],
    "requests.failed": ["ListFailedRequests"],
    "usage.get": ["GetUsage"],
    "plans.list": ["CheckGrant"],
    "plans.get": ["CheckGrant"],
    "plans.update": ["CheckGrant"],
    "plans.complete": ["CheckGrant"],
    "plans.cancel": ["CheckGrant"],
    "session.sign_out_everywhere": ["EndSessionsOf"],
    "session.sign_out": ["EndSession"],
  };

  it("are one beside a read, and two for a change: the session with its grants, and the service's own check", async () => {
    const { id, owner } = await stack.createBrand();
    const caller = await signIn(stack, url, owner);
    const inputOf = await inputsOf(id, owner, caller);
    for (const [name, calls] of Object.entries(CALLS) as [OperationName, readonly string[]][]) {
      const { needs } = OPERATIONS[name];
      const who = needs === "anyone" && name !== "session.sign_out" ? consoleCaller(url, "") : caller;
      let status = 0;
      const made = await accountsCallsOf(async () => ({ status } = await who.send(name, inputOf(name))));
      expect([name, status === 400, made]).toEqual([name, false, [...calls, ...(needs === "anyone" ? [] : ["GetSession"])].toSorted()]);
    }
  });

  it("are one beside the reads that a page comes with", async () => {
    const { id, owner } = await stack.createBrand();
    const { cookie } = await signIn(stack, url, owner);
    const open = () => fetch(`${url}/developers/keys`, { headers: { cookie: `${cookie}; brand=${id}` } });
    // The page's frame reads the receivers, too. A page waits a second for its reads: on a busy machine it may come without.
    await eventually(async () => expect(await accountsCallsOf(open)).toEqual(["CheckGrant", "GetSession", "ListKeys"]));
  });
});

it("a browser at an address without a page gets a page that leads on, and programs get JSON", async () => {
  const open = (path: string, accept: string) => fetch(`${url}${path}`, { redirect: "manual", headers: { accept } });
  const browsers = "text/html,application/xhtml+xml,*/*;q=0.8";
  const missing = await open("/nope", browsers);
  expect([missing.status, missing.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  const text = await missing.text();
  expect(text).toContain("<h1>Page not found</h1>");
  expect(text).toContain('href="/"');
  const capitals = await open("/Developers/Keys?x=A", browsers);
  expect([capitals.status, capitals.headers.get("location")]).toEqual([302, "/developers/keys?x=A"]);
  // The console's own page says it.
  const below = await open("/sign-in/nope", browsers);
  expect([below.status, below.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  for (const [path, accept] of [
    ["/nope", "*/*"],
    ["/Developers", "application/json"],
    ["/sign-in/nope", "*/*"],
    ["/console/nope", browsers],
    ["/console/api/nope", browsers],
    ["/api/v1/nope", browsers],
  ] as const) {
    const response = await open(path, accept);
    expect([path, response.headers.get("content-type")]).toEqual([path, "application/json; charset=utf-8"]);
  }
});
