import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { addDelivery } from "../../../services/webhook/test/add-delivery.ts";
import { context, startProduct, type TestBrand } from "../../test/product.ts";
import { failing, CTRL_C, CTRL_D, pressing, typing, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

const URL_GIVEN = "https://hooks.ulap.example/in?t=tok3n";
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=\n$/;
const product = startProduct();
let brand: TestBrand;
/** A receiver that selects payout.paid. */
let receiver: Receiver;
beforeEach(async () => {
  brand = await product.createBrand();
  receiver = await addReceiver("https://first.example/events?token=tok3n");
});

async function addReceiver(url: string): Promise<Receiver> {
  const request = { brand_id: brand.id, url, label: "Ledger", events: ["payout.paid"] };
  return (await product.receivers.createReceiver(request, context())).receiver as Receiver;
}

/** RCV stands for the receiver. */
const run = (line: string, surroundings: Surroundings = {}): Promise<Outcome> =>
  product.run(`receivers ${line.replace("RCV", receiver.id)}`, { ...surroundings, env: { ...product.env, BRAND: brand.id } });
const create = (types: string, url = URL_GIVEN): Promise<Outcome> => run(`create --url ${url} --label Ledger --events ${types}`);
const all = async (): Promise<Receiver[]> => (await run("list --json")).json<{ receivers: Receiver[] }>().receivers;
const current = async (): Promise<Receiver | undefined> => (await all()).find(({ id }) => id === receiver.id);
/** Adds pending deliveries, which are not due. */
async function addWaiting(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await addDelivery(product.db, receiver, { at: new Date().toISOString(), state: "pending" });
  await product.db.query("update webhook.deliveries set due_at = now() + interval '1 hour' where receiver_id = $1", [receiver.id]);
}

describe("create", () => {
  it("writes the secret alone to standard output, and instructions to standard error", async () => {
    const { code, stdout, stderr } = await create("payout.paid,campaign.settled");
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(SECRET) });
    expect(stderr).toContain("The signing secret is shown once.");
    expect(stderr).toContain("X-Service-Signature");
    for (const hidden of [stdout.trim(), "tok3n"]) expect(stderr).not.toContain(hidden);
    expect((await all())[1]).toMatchObject({ url: URL_GIVEN, events: ["payout.paid", "campaign.settled"] });
  });

  it("prints id, secret and the whole receiver with --json, and nothing else", async () => {
    const outcome = await create("payout.paid --json");
    const { id, secret, receiver: made } = outcome.json<{ id: string; secret: string; receiver: Receiver }>();
    expect([`${secret}\n`, made]).toEqual([expect.stringMatching(SECRET), (await all())[1]]);
    expect([id, outcome.stderr]).toEqual([made.id, ""]);
  });

  it("accepts spaces and empty items between event types", async () => {
    const words = ["receivers", "create", "--brand", brand.id, "--url", URL_GIVEN, "--label", "L", "--events"];
    expect((await product.run([...words, " payout.paid, campaign.settled,, "])).code).toBe(0);
    expect((await all())[1]?.events).toEqual(["payout.paid", "campaign.settled"]);
  });

  it.each([
    ["payout.foo", '--events: "payout.foo" is not an event type'],
    ["payout.paid,payout.foo,ping", '--events: "payout.foo", "ping" are not event types'],
    [",", "--events names no event type"],
  ])("refuses --events %s, as update does, saying why, and lists the event types", async (types, message) => {
    for (const outcome of [await create(types), await run(`update RCV --events ${types}`)]) {
      expect(outcome).toMatchObject(failing(2, message));
      expect(outcome.stderr).toContain(EVENT_TYPE_NAMES.join(", "));
    }
    expect(await all()).toEqual([receiver]);
  });

  it.each(["--url", "--label", "--events"])("needs %s", async (option) => {
    const words = ["create", "--url", URL_GIVEN, "--label", "L", "--events", "payout.paid"];
    words.splice(words.indexOf(option), 2);
    expect(await run(words.join(" "))).toMatchObject(failing(2, `'${option} `));
  });

  it.each([
    ["http://hooks.ulap.example/", "not_https"],
    ["https://localhost/", "private_address"],
    ["https://hooks.slack.com/services/x", "chat_webhook"],
  ])("prints what the service finds wrong with %s once", async (url, code) => {
    const { error } = JSON.parse((await create("payout.paid --json", url)).stderr) as { error: { message: string } };
    expect(error).toMatchObject({ code, message: expect.stringMatching(/^url /), field: "url" });
    expect(await create("payout.paid", url)).toMatchObject({ code: 1, stdout: "", stderr: `error: ${error.message}\n` });
  });

  it("gives a hint about a URL that the brand has already, and about the maximum", async () => {
    const hint = expect.stringContaining(`brandctl receivers list --brand ${brand.id} --json`);
    expect(await create("payout.paid", receiver.url)).toMatchObject({ code: 1, stdout: "", stderr: hint });
    expect(JSON.parse((await create("payout.paid --json", receiver.url)).stderr)).toMatchObject({
      error: { code: "duplicate_url", field: "url", hint },
    });
    for (let at = 1; at < 20; at += 1) await addReceiver(`https://${at}.example/`);
    expect(await create("payout.paid")).toMatchObject(failing(1, "brandctl receivers delete RECEIVER makes room"));
  });

  it.each([
    ["https://Bücher.Example:443/in?t=tok3n", "https://Bücher.Example:443/in…", "https://xn--bcher-kva.example/in…"],
    ["HTTPS://hooks.ulap.example", "HTTPS://hooks.ulap.example", "https://hooks.ulap.example/"],
    ["https://ulap.example/a/../ü", "https://ulap.example/a/../ü", "https://ulap.example/%C3%BC"],
    [`https://Ulap.example/${"x".repeat(40)}`, `https://Ulap.example/${"x".repeat(23)}…`, `https://ulap.example/${"x".repeat(23)}…`],
    ["https://ulap.example/?t='tok3n", "https://ulap.example/?t='…", "https://ulap.example/?t=%27…"],
  ])("notes both forms of a URL that is called in another than %s, as update does", async (url, given, called) => {
    const note = `The URL is called in its normal form:\n  given   ${given}\n  called  ${called}\n`;
    expect((await run(`update RCV --url ${url}`)).stderr).toBe(`\n${note}`);
    await run("delete RCV --yes");
    expect((await create("payout.paid", url)).stderr).toContain(note);
  });

  it("notes no form with --json, nor where both are the same", async () => {
    expect((await create("payout.paid --json", "https://HOOKS.ulap.example/")).stderr).toBe("");
    expect((await create("payout.paid", "https://hooks.ulap.example/other")).stderr).not.toContain("normal form");
    expect((await run("update RCV --label L")).stderr).toBe("");
  });
});

describe("list and show", () => {
  it("gives a hint if there are none, and fails for an unknown brand", async () => {
    const { id } = await product.createBrand();
    expect((await product.run(`receivers list --brand ${id}`)).stdout).toBe("The brand has no receivers.\n");
    // brandctl cannot look the brand up without the address of accounts.
    const { WEBHOOK_ADDRESS } = product.env;
    expect((await product.run("receivers list --brand brd_nope1", { env: { WEBHOOK_ADDRESS } })).stdout).toBe(
      "The brand has no receivers. Is the id right? See brandctl brands list\n",
    );
    const { code, stdout, stderr } = await product.run("receivers list --brand brd_nope1 --json");
    expect({ code, stdout, ...JSON.parse(stderr) }).toMatchObject({ code: 1, stdout: "", error: { code: "not_found", field: "brand_id" } });
  });

  it("has the brand's receivers, and one of them, in full with --json", async () => {
    const long = { url: `https://a.example/${"p".repeat(200)}?t=1`, label: "名".repeat(80) };
    await run(`update RCV --url ${long.url} --label ${long.label}`);
    expect((await run("list")).stdout).toContain(`  https://a.example/${"p".repeat(23)}…  payout.paid\n`);
    const { receiver: shown } = (await run("show RCV --json")).json<{ receiver: Receiver }>();
    expect(shown).toMatchObject({ id: receiver.id, ...long });
    expect(await all()).toEqual([shown]);
    for (const text of Object.values(long)) expect((await run("show RCV")).stdout).toContain(text);
  });
});

describe("update", () => {
  it("changes what is given, and leaves the rest", async () => {
    const { updated_at: _, ...before } = receiver;
    expect((await run("update RCV --label Books --json")).json()).toMatchObject({ receiver: { ...before, label: "Books" } });
    await run("update RCV --url https://new.example/ --events campaign.settled");
    const changed = { label: "Books", url: "https://new.example/", events: ["campaign.settled"] };
    expect(await current()).toMatchObject({ ...before, ...changed });
    await run("update RCV --max-in-flight 1");
    expect(await current()).toMatchObject({ ...before, ...changed, max_in_flight: 1 });
  });

  it.each<[string, string]>([
    ["", "Nothing to change"],
    ...["0", "65", "-1", "1.5", "x"].map((count) => [` --max-in-flight ${count}`, "from 1 to 64"] as [string, string]),
  ])("refuses %j", async (options, message) => {
    expect(await run(`update RCV${options}`)).toMatchObject(failing(2, message));
    expect(await current()).toEqual(receiver);
  });
});

describe("test", () => {
  it("queues a delivery, and names the command that shows it", async () => {
    const { stdout, stderr } = await run("test RCV");
    const [, id] = /^(dlv_\w+) is queued\.\n$/.exec(stdout) ?? [];
    expect(stderr).toBe(`To see the result: brandctl deliveries show ${id}\n`);
    expect((await run("test RCV --type payout.paid --json")).json()).toEqual({
      delivery_id: expect.stringMatching(/^dlv_/),
      event_id: expect.stringMatching(/^evt_/),
    });
    expect((await run("test RCV --type ping")).code).toBe(2);
  });

  it("--next queues one that is signed with the next secret, and deliveries list shows it", async () => {
    await run("rotate RCV");
    await run("test RCV");
    await run("test RCV --next");
    const { stdout } = await product.run(`deliveries list --receiver ${receiver.id}`);
    expect(stdout).toMatch(/payout\.paid next .*\n.*payout\.paid test  /);
  });

  it("says that the receiver is paused, or how to enable it", async () => {
    await product.db.query(
      "update webhook.lanes set open_until = now() + interval '5 min', failed_in_a_row = 10, trips = 1 where receiver_id = $1",
      [receiver.id],
    );
    expect((await run("test RCV")).stderr).toMatch(/The receiver is paused until \d\d:\d\d:\d\d UTC after 10 failures\.\n/);
    expect((await run("test RCV --json")).stderr).toBe("");
    await run("disable RCV");
    expect(await run("test RCV")).toMatchObject(failing(1, `brandctl receivers enable ${receiver.id} --release`));
  });
});

describe("disable and enable", () => {
  it("disable holds the receiver's deliveries", async () => {
    await addWaiting(3);
    expect(await run("disable RCV")).toMatchObject({ code: 0, stdout: expect.stringMatching(/disabled 20.* UTC \(member\)/) });
    expect(await current()).toMatchObject({ enabled: false, waiting: 3 });
  });

  it.each([
    ["--release", 3, ""],
    ["--drop", 0, "3 deliveries dropped.\n"],
  ])("enable %s leaves %i deliveries; again, it changes nothing", async (option, left, note) => {
    await addWaiting(3);
    await run("disable RCV");
    expect((await run(`enable RCV ${option}`)).stderr).toBe(note);
    expect(await current()).toMatchObject({ enabled: true });
    // Pending, or in flight.
    expect(await product.db.query("select from webhook.deliveries where receiver_id = $1", [receiver.id])).toHaveLength(left);
    const { code, stdout, stderr } = await run(`enable RCV ${option}`);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`${receiver.id}  enabled`) });
    expect(stderr).toBe("The receiver was enabled already: nothing changed, and nothing was dropped.\n");
    expect((await run(`enable RCV ${option} --json`)).json()).toMatchObject({ receiver: { enabled: true }, dropped: 0 });
  });

  it("fails if the receiver was disabled again meanwhile", async () => {
    await run("disable RCV");
    product.intercepts.set("webhook.enableReceiver", async (request: { brand_id: string; receiver_id: string }, forward) => {
      const enabled = (await forward()) as object;
      return { ...enabled, ...(await product.receivers.disableReceiver(request, context())) };
    });
    const { code, stderr } = await run("enable RCV --drop");
    expect([code, stderr]).toEqual([1, expect.stringContaining("disabled again meanwhile, and stays so")]);
  });

  it.each(["", " --release --drop"])("enable%s is refused: it needs one of the two", async (options) => {
    await run("disable RCV");
    expect(await run(`enable RCV${options}`)).toMatchObject(failing(2, "--release sends them, --drop drops them permanently"));
    expect(await current()).toMatchObject({ enabled: false });
  });
});

describe("rotate and activate", () => {
  const accept = () =>
    product.db.query("update webhook.receivers set next_secret_accepted_at = '2026-11-21T08:41:00Z' where id = $1", [receiver.id]);

  it("rotate writes the next secret alone to standard output, and names the next commands", async () => {
    const { code, stdout, stderr } = await run("rotate RCV");
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(SECRET) });
    expect(stderr).toContain("enabled, rotating");
    expect(stderr).toContain(`brandctl receivers test ${receiver.id} --next`);
    expect(stderr).toContain(`brandctl receivers activate ${receiver.id}`);
  });

  it.each([
    [false, ""],
    [true, ", accepted 2026-11-21 08:41:00 UTC"],
  ])("rotate replaces a next secret (accepted: %s) only with --replace", async (isAccepted, accepted) => {
    await run("rotate RCV");
    if (isAccepted) await accept();
    const before = await current();
    const made = before?.next_secret_at?.slice(0, 19).replace("T", " ");
    const { code, stdout, stderr } = await run("rotate RCV");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      `error: The receiver has a next secret already, made ${made} UTC${accepted}. ` +
        "Rotating again replaces it for good: what has that secret alone then refuses deliveries.\n" +
        `brandctl receivers activate ${receiver.id} makes it the current one; brandctl receivers rotate ${receiver.id} --replace replaces it\n`,
    );
    expect((await run("rotate RCV --json")).stderr).toContain('"code":"next_secret_exists"');
    expect(await current()).toEqual(before);
    expect((await run("rotate RCV --replace --json")).json()).toMatchObject({
      id: receiver.id,
      secret: expect.stringMatching(/^whsec_/),
      receiver: { rotating: true, next_secret_accepted_at: null },
    });
  });

  it("activate ends the rotation once a test by the next secret was accepted, or with --force", async () => {
    await run("rotate RCV");
    const hint = `brandctl receivers test ${receiver.id} --next sends such a test; brandctl receivers activate ${receiver.id} --force activates without one`;
    expect(await run("activate RCV")).toMatchObject(failing(1, hint));
    await accept();
    expect((await run("activate RCV --json")).json()).toMatchObject({ receiver: { rotating: false, next_secret_at: null } });
    await run("rotate RCV");
    expect((await run("activate RCV --force --json")).json()).toMatchObject({ receiver: { rotating: false } });
  });

  it.each(["activate RCV --force", "test RCV --next"])("%s gives a hint without a next secret", async (line) => {
    expect(await run(line)).toMatchObject(failing(1, `brandctl receivers rotate ${receiver.id} makes one`));
  });
});

describe("delete", () => {
  const confirmation = (waiting: string): string =>
    `Permanently delete ${receiver.id}, "Ledger" at https://first.example/events…, with ${waiting}? [y/N]`;

  it.each(["y", "YES", " yes "])("asks, and deletes at %j", async (reply) => {
    await addWaiting(3);
    const { code, stdout, stderr } = await run("delete RCV", typing(reply));
    expect(stderr).toContain(confirmation("3 waiting deliveries"));
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${receiver.id} is deleted, and 3 waiting deliveries with it.\n` });
    expect(await all()).toEqual([]);
  });

  it.each<[string, Surroundings, number, string]>([
    ...["", "n", "no", "yep", "rcv_1"].map(
      (reply) => [`${reply} is typed`, typing(reply), 1, "Nothing was deleted."] as [string, Surroundings, number, string],
    ),
    ["Ctrl-C is pressed", pressing(CTRL_C), 130, "Nothing was deleted."],
    ["Ctrl-D is pressed", pressing(CTRL_D), 1, "Nothing was deleted."],
    ["there is no terminal", {}, 2, "Add --yes to go on."],
    ["only standard output is a terminal", { isTerminal: true }, 2, "Add --yes to go on."],
  ])("deletes nothing if %s", async (_, surroundings, code, message) => {
    expect(await run("delete RCV", surroundings)).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) });
    expect(await all()).toHaveLength(1);
  });

  it.each(["--yes", "-y"])("does not ask with %s", async (option) => {
    expect((await run("delete RCV --json", typing("y"))).code).toBe(2);
    expect((await run(`delete RCV ${option} --json`)).json()).toEqual({
      deleted: { brand_id: brand.id, receiver_id: receiver.id, dropped: 0 },
    });
    expect(await all()).toEqual([]);
  });
});
