import { AppError } from "@brand-records/errors";
import type { Member } from "@brand-records/proto/accounts/v1";
import { addPlan, context, startProduct, type TestBrand } from "../../test/product.ts";
import { failing, type Outcome } from "../../test/test-terminal.ts";

const product = startProduct();
let brand: TestBrand;
/** A member. */
let ana: string;
beforeEach(async () => {
  brand = await product.createBrand();
  ana = `ana@${brand.id.slice(4)}.example`;
  await product.accounts.addMember({ brand_id: brand.id, email: ana, role: "member" }, context());
});

const run = (line: string, env: NodeJS.ProcessEnv = {}): Promise<Outcome> =>
  product.run(`members ${line}`, { env: { ...product.env, BRAND: brand.id, ...env } });
const emails = async (): Promise<string[]> => (await run("list --json")).json<{ members: Member[] }>().members.map(({ email }) => email);

it("adds, lists and removes members, over all pages", async () => {
  const ben = `ben@${brand.id.slice(4)}.example`;
  expect((await run(`add ${ben} --json`)).json()).toMatchObject({ member: { email: ben, role: "member" } });
  product.intercepts.set("accounts.listMembers", (request: object, forward) => forward({ ...request, page_size: 2 }));
  expect(await emails()).toEqual([ana, ben, brand.owner]);
  expect((await run(`remove ${ben}`)).stdout).toBe(`${ben} is no longer a member of ${brand.id}\n`);
  expect(await emails()).toEqual([ana, brand.owner]);
  expect((await run(`add --json -- -x@${ben}`)).code).toBe(1);
  expect((await run("add --json -- -x@y.example")).json()).toMatchObject({ member: { email: "-x@y.example" } });
});

describe("link", () => {
  const BASE = { BASE_URL: "https://data.example/" };

  it("writes the link alone to standard output, or url and expires_at with --json", async () => {
    const { code, stdout, stderr } = await run(`link ${ana}`, BASE);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^https:\/\/data\.example\/sign-in#[\w-]{20,}\n$/) });
    expect(stderr).toMatch(new RegExp(`\\nIt signs ${ana} in, once, until \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC\\.`));
    expect(stderr).not.toContain(stdout.trim().slice(-20));
    const before = Date.now();
    const outcome = await run(`link ${ana} --json --valid-for 1440`, BASE);
    const { url, expires_at, ...rest } = outcome.json<{ url: string; expires_at: string }>();
    expect({ rest, stderr: outcome.stderr }).toEqual({ rest: {}, stderr: "" });
    expect(url).toContain("/sign-in#");
    expect(Date.parse(expires_at) - before).toBeGreaterThan(86_390_000);
  });

  it("leads to PUBLIC_URL rather than BASE_URL, which browsers may not reach, and to --base-url rather than both", async () => {
    const env = { BASE_URL: "http://gateway:8080", PUBLIC_URL: "https://data.example" };
    expect((await run(`link ${ana}`, env)).stdout).toContain("https://data.example/sign-in#");
    expect((await run(`link ${ana} --base-url https://other.example`, env)).stdout).toContain("https://other.example/sign-in#");
  });

  it.each([
    ["--valid-for 0", BASE, 2, "1440"],
    ["--valid-for 1441", BASE, 2, "1440"],
    ["--valid-for 1h", BASE, 2, "1440"],
    ["", {}, 1, "no --base-url, no PUBLIC_URL, no BASE_URL"],
  ])("makes no link with %j", async (options, env, code, message) => {
    const calls: object[] = [];
    product.intercepts.set("accounts.createSignInLink", async (request: object) => void calls.push(request));
    expect(await run(`link ${ana} ${options}`.trim(), env)).toMatchObject({ code, stderr: expect.stringContaining(message) });
    expect(calls).toEqual([]);
  });

  it.each(["link", "unlink"])("%s gives a hint for an address that is not a member's", async (command) => {
    expect(await run(`${command} stranger@example.ph`, BASE)).toMatchObject(failing(1, "brandctl members add EMAIL"));
  });
});

it("unlink says how many accounts it has unlinked, and when there was none", async () => {
  const bind = (issuer: string) =>
    product.db.query("insert into accounts.identities (issuer, subject, email) values ($1, $2, $2)", [issuer, ana]);
  await bind("https://a.example");
  await bind("https://b.example");
  expect((await run(`unlink ${ana}`)).stdout).toBe(`${ana} is unlinked from 2 accounts and signed out everywhere\n`);
  expect((await run(`unlink ${ana}`)).stdout).toBe(`${ana} has no account at a provider: nothing was changed\n`);
  await bind("https://a.example");
  expect((await run(`unlink ${ana} --json`)).json()).toEqual({ email: ana, unlinked: 1 });
});

describe("a person who has left", () => {
  /** Ends the 35 seconds for which requests from before the removal may still write. */
  const settle = () => product.db.query("update accounts.erasures set begun_at = begun_at - interval '1 minute' where email = $1", [ana]);
  const closedPlan = (id: string): Promise<string> =>
    addPlan(product.db, brand.id, { id, status: "completed", closed_at: "2026-11-22T09:00:00Z", closed_by: ana });
  const closedBy = async (id: string): Promise<string | undefined> =>
    (await product.db.query<{ by: string }>("select closed_by as by from plans.plans where id = $1", [id]))[0]?.by;
  let plan: string;
  const erase = (more = ""): Promise<Outcome> => run(`erase ${ana} --yes${more}`);

  beforeEach(async () => {
    plan = brand.id.replace("brd", "pln");
    await closedPlan(plan);
    await product.accounts.removeMember({ brand_id: brand.id, email: ana }, context());
    // brandctl waits as long as this says; the service refuses to end the erasure before it has settled.
    product.intercepts.set("accounts.beginErasure", async (_, forward) => {
      const begun = (await forward()) as object;
      await settle();
      return { ...begun, settles_in_ms: 20 };
    });
  });

  it("is exported from every service, as tables or as JSON over all pages", async () => {
    const { stdout } = await run(`export ${ana}`);
    expect(stdout.split("\n")).toEqual([
      "Audit log: what the person did, and what was done to the person",
      expect.stringMatching(/^TIME \(UTC\) +BRAND +BY +ACTION +SUBJECT +FROM +REQUEST$/),
      ...["member.add", "member.remove"].map((action) =>
        expect.stringMatching(new RegExp(`^20\\d\\d-\\d\\d-\\d\\d \\d\\d:\\d\\d  ${brand.id}  operator  ${action} +${ana}  -     test$`)),
      ),
      "",
      "Plans that the person closed, or edited last",
      "ID                              BRAND                           STATUS     CLOSED (UTC)      BY THE PERSON  EDITED (UTC)  BY THE PERSON",
      expect.stringMatching(
        new RegExp(`^${plan}  ${brand.id}  completed  20\\d\\d-\\d\\d-\\d\\d \\d\\d:\\d\\d  yes            -             no$`),
      ),
      "",
    ]);
    await run(`add ${ana}`);
    await run(`remove ${ana}`);
    product.intercepts.set("accounts.exportPerson", (request: object, forward) => forward({ ...request, page_size: 1 }));
    const { person } = (await run(`export ${ana.toUpperCase()} --json`)).json<{ person: { audit_entries: { action: string }[] } }>();
    expect(person).toMatchObject({ email: ana, memberships: [], plans: [{ id: plan }] });
    const twice = ["member.add", "member.add", "member.remove", "member.remove"];
    expect(person.audit_entries.map(({ action }) => action).toSorted()).toEqual(twice);
  });

  it("is erased in every service under one pseudonym, and then nothing is kept", async () => {
    const entry = { action: "receiver.test", actor: ana, fields: [], request_id: "r", address: "203.0.113.7", outcome: "done" };
    await product.db.query("insert into webhook.audit_outbox (id, brand_id, entry, created_at) values ($1, $2, $3::jsonb, now())", [
      brand.id.replace("brd", "aud"),
      brand.id,
      JSON.stringify(entry),
    ]);
    const { code, stderr, json } = await erase(" --json");
    const { erased } = json<{ erased: { pseudonym: string } }>();
    expect({ code, erased }).toEqual({
      code: 0,
      erased: { email: ana, pseudonym: expect.stringMatching(/^erased_/), brand_ids: [brand.id] },
    });
    expect(await closedBy(plan)).toBe(erased.pseudonym);
    expect(
      await product.db.query(
        "select entry->>'actor' as actor, entry->>'address' as address from webhook.audit_outbox where brand_id = $1",
        [brand.id],
      ),
    ).toEqual([{ actor: erased.pseudonym, address: null }]);
    expect(stderr).toBe("");
    const repeated = await erase();
    expect([repeated.code, repeated.stderr]).toEqual([1, expect.stringContaining(`Nothing is kept about ${ana}`)]);
    expect(repeated.stderr).toContain("An address that was erased is not known any more");
    expect(await run(`export ${ana}`)).toMatchObject(failing(1, "Nothing is kept about"));
  });

  /** Runs once, after the first erasure in plans. */
  const afterErasingPlans = (work: () => Promise<unknown>): void =>
    void product.intercepts.set("plans.erasePerson", async (_, forward) => {
      product.intercepts.delete("plans.erasePerson");
      const erased: unknown = await forward();
      await work();
      return erased;
    });
  const endErasure = async (): Promise<void> => {
    await product.db.query("delete from accounts.erasures where email = $1", [ana]);
    await product.db.query("delete from accounts.audit_entries where subject_id = $1", [ana]);
    await product.db.query("delete from plans.plans where closed_by = $1", [ana]);
  };

  it("is erased from what plans wrote during the wait, which a note announces", async () => {
    afterErasingPlans(() => closedPlan(`${plan}x`));
    const { stdout, stderr } = await erase();
    expect(stderr).toContain("s for requests from before the person's removal to end");
    expect(stdout).toMatch(new RegExp(`^${ana} is erased. In its place is erased_\\w+\\.\\n$`));
    expect(await closedBy(`${plan}x`)).toMatch(/^erased_/);
  });

  it.each([
    ["during the wait", () => afterErasingPlans(endErasure)],
    [
      "at the end",
      () =>
        void product.intercepts.set("accounts.erasePerson", async (_, forward) => {
          await endErasure();
          return forward() as Promise<unknown>;
        }),
    ],
  ])("is erased once when another command finishes the same erasure %s", async (_, arrange) => {
    arrange();
    expect(await erase()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${ana} is erased. In its place is erased_`),
      stderr: expect.stringContaining("Another command, at the same time, finished this erasure."),
    });
  });

  it.each([
    ["added to a brand", "still_a_member", false],
    ["added, and removed again", "request_conflict", true],
  ])("keeps the plans of a new stay if %s during the wait", async (_, kind, isRemoved) => {
    afterErasingPlans(async () => {
      await product.accounts.addMember({ brand_id: brand.id, email: ana, role: "member" }, context());
      await closedPlan(`${plan}x`);
      if (isRemoved) await product.accounts.removeMember({ brand_id: brand.id, email: ana }, context());
    });
    expect(await erase(" --json")).toMatchObject(failing(1, kind));
    expect(await closedBy(`${plan}x`)).toBe(ana);
  });

  it("is not called erased if something is kept", async () => {
    product.failNext("accounts.erasePerson", new AppError("not_found", "No erasure of this person has begun.", { field: "email" }));
    expect((await erase()).code).toBe(1);
  });

  it.each(["plans.erasePerson", "webhook.erasePerson", "accounts.erasePerson"])(
    "is not finished if %s fails; a repetition finishes",
    async (method) => {
      // Calls that can be repeated are repeated once.
      product.intercepts.set(method, () => Promise.reject(new AppError("unavailable", "It cannot be reached.")));
      const { code, stderr } = await erase();
      expect([code, stderr]).toEqual([1, expect.stringContaining("The erasure has begun and is not finished.")]);
      expect(stderr).toContain(`to continue: brandctl members erase ${ana}`);
      product.intercepts.delete(method);
      expect((await erase()).code).toBe(0);
    },
  );

  it("is asked about first, and needs --yes without a terminal", async () => {
    expect(await run(`erase ${ana}`)).toMatchObject(failing(2, "Add --yes"));
    expect(await closedBy(plan)).toBe(ana);
  });
});

it("erase names the brands of a member, and erases nothing", async () => {
  const { code, stderr } = await run(`erase ${ana} --yes`);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${ana} is a member of Ulap (${brand.id}). Nothing was erased.`)]);
  expect(stderr).toContain(`brandctl members remove ${ana} --brand ${brand.id}`);
});

it.each(["export notmail", "erase notmail --yes"])("%s: what is no e-mail address exits with 2", async (line) => {
  expect(await run(line)).toMatchObject(failing(2, "notmail is not"));
});
