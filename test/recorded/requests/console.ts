import { OPERATIONS, type OperationName } from "@brand-records/console-contract";
import { callContext } from "../../stack.ts";
import { cookieOf, jsonOf } from "../exchange.ts";
import type { Send } from "../recording.ts";
import { BRAND, OTHER, type RecordedSystem } from "../system.ts";

const SAME_ORIGIN = { "Sec-Fetch-Site": "same-origin" };
const brand_id = BRAND.id;

type Call = (name: string, operation: OperationName, input: unknown) => Promise<string>;

/** Pages, signing in, and every operation: without a session, by a member, and by an owner. */
export async function sendConsole(send: Send, system: RecordedSystem): Promise<void> {
  const post = (name: string, operation: string, body: unknown, headers: object = {}): Promise<string> =>
    send(name, { method: "POST", path: `/console/api/${operation}`, headers: { ...SAME_ORIGIN, ...headers }, body: body as object });
  await sendPages(send);
  const signIn = async (email: string): Promise<Call> => {
    const { token } = await system.stack.signIn.createSignInLink({ email, ttl_seconds: 0 }, callContext());
    await post(`peek at a link of ${email}`, "sign_in.peek", { token });
    const cookie = cookieOf(await post(`sign in as ${email}`, "sign_in.redeem", { token }));
    await post(`the link of ${email} again`, "sign_in.redeem", { token });
    return (name, operation, input) => post(name, operation, input, { Cookie: cookie });
  };
  const owner = await signIn(BRAND.owner);
  const member = await signIn(BRAND.member);
  await sendRefusals(owner, post);
  await sendReads("an owner", owner);
  await sendReads("a member", member);
  for (const [operation, { needs }] of Object.entries(OPERATIONS)) {
    // What it has of plans and receivers comes a moment after the change.
    const isSettled = operation !== "audit.list";
    if (isSettled && needs === "member") await owner(`${operation} without fields`, operation as OperationName, { brand_id });
  }
  await sendChanges(owner);
  await member("leave", "members.leave", { brand_id });
  await member("a member who has left", "session.me", {});
  await owner("sign out", "session.sign_out", {});
  await owner("after signing out", "session.me", {});
}

async function sendPages(send: Send): Promise<void> {
  for (const path of [
    "/",
    "/sign-in",
    "/developers",
    "/developers/keys",
    "/workspaces/plans/pln_1",
    "/auth/start",
    "/console/assets/none.js",
    "/Developers",
  ]) {
    await send(`page ${path}`, { path, headers: { Accept: "text/html" } });
  }
  await send("a page with POST", { method: "POST", path: "/developers", headers: SAME_ORIGIN, body: {} });
  await send("a page's head", { method: "HEAD", path: "/developers" });
}

async function sendRefusals(
  owner: Call,
  post: (name: string, operation: string, body: unknown, headers?: object) => Promise<string>,
): Promise<void> {
  await post("from another site", "session.me", {}, { "Sec-Fetch-Site": "cross-site" });
  await post("from another origin", "session.me", {}, { "Sec-Fetch-Site": "", Origin: "https://page.example" });
  await post("an unknown operation", "keys.nothing", {});
  await post("a session that is none", "session.me", {}, { Cookie: "session=abc" });
  await owner("another brand", "keys.list", { brand_id: OTHER.id });
  await owner("an unknown brand", "keys.list", { brand_id: "brd_01k9unknown00000000000000a" });
  await owner("no brand", "keys.list", {});
  await owner("a field too many", "keys.list", { brand_id, more: 1 });
  await owner("no object", "keys.list", "3");
  await owner("no JSON", "keys.list", "{");
}

async function sendReads(who: string, call: Call): Promise<void> {
  const range = { from: "2026-11-01T00:00:00.000Z", to: "2026-11-02T00:00:00.000Z" };
  await call(`${who}: me`, "session.me", {});
  await call(`${who}: keys`, "keys.list", { brand_id });
  await call(`${who}: members`, "members.list", { brand_id });
  await call(`${who}: receivers`, "receivers.list", { brand_id });
  await call(`${who}: an unknown receiver`, "receivers.get", { brand_id, receiver_id: "rcv_01k9unknown00000000000000a" });
  await call(`${who}: deliveries`, "deliveries.list", { brand_id });
  await call(`${who}: events`, "events.list", { brand_id });
  await call(`${who}: plans`, "plans.list", { brand_id });
  await call(`${who}: failed requests`, "requests.failed", { brand_id, ...range, bucket_minutes: 60 });
  await call(`${who}: usage`, "usage.get", { brand_id, ...range, bucket_minutes: 60, by_key: false });
  await call(`${who}: an unknown record`, "session.locate", { id: "pln_01k9unknown00000000000000a" });
}

/** The changes of an owner, each read afterwards, and the audit log with all of them. */
async function sendChanges(owner: Call): Promise<void> {
  const created = jsonOf(await owner("create a key", "keys.create", { brand_id, name: "Looker", may_prepare: true })) as {
    key: { id: string };
  };
  await owner("revoke it", "keys.revoke", { brand_id, key_id: created.key.id });
  await owner("revoke it again", "keys.revoke", { brand_id, key_id: created.key.id });
  await sendReceiverChanges(owner);
  await sendPlanChanges(owner);
  const email = "new@ulap.example";
  await owner("add a member", "members.add", { brand_id, email, role: "member" });
  await owner("add the member again", "members.add", { brand_id, email, role: "member" });
  await owner("make an owner", "members.set_role", { brand_id, email, role: "owner" });
  await owner("switch mail off", "mail.set", { brand_id, plans_and_keys: false });
  await owner("what the owner gets mail of", "mail.get", { brand_id });
  await owner("a link for the owner", "members.link", { brand_id, email });
  await owner("remove the owner", "members.remove", { brand_id, email });
  await owner("the last owner", "members.remove", { brand_id, email: BRAND.owner });
  // Other services hand their entries over in a moment of their own.
  await owner("the audit log of removals", "audit.list", { brand_id, action: "member.remove" });
}

async function sendReceiverChanges(owner: Call): Promise<void> {
  const settings = { url: "https://hooks.example/events?token=1", label: "Ledger", events: ["payout.paid"] };
  await owner("a receiver without https", "receivers.create", { brand_id, ...settings, url: "http://hooks.example" });
  const { receiver } = jsonOf(await owner("create a receiver", "receivers.create", { brand_id, ...settings })) as {
    receiver: { id: string };
  };
  const named = { brand_id, receiver_id: receiver.id };
  await owner("the receiver", "receivers.get", named);
  await owner("rename it", "receivers.update", { ...named, label: "Books" });
  await owner("an unknown event", "receivers.update", { ...named, events: ["nothing"] });
  await owner("a next secret", "receivers.rotate", { ...named, replace: false });
  await owner("activate it without a test", "receivers.activate", { ...named, force: false });
  await owner("activate it", "receivers.activate", { ...named, force: true });
  await owner("disable it", "receivers.disable", named);
  await owner("its statistics", "deliveries.stats", { ...named, from: "2026-11-01T00:00:00.000Z", to: "2026-11-02T00:00:00.000Z" });
  await owner("no replay yet", "replays.latest", named);
  await owner("enable it", "receivers.enable", { ...named, held: "drop" });
  await owner("delete it", "receivers.delete", named);
  await owner("the deleted receiver", "receivers.get", named);
}

async function sendPlanChanges(owner: Call): Promise<void> {
  const listed = jsonOf(await owner("the plans", "plans.list", { brand_id, status: "pending" })) as {
    plans: { id?: string; plan_id?: string }[];
  };
  const plan_id = listed.plans[0]?.plan_id ?? listed.plans[0]?.id ?? "";
  const named = { brand_id, plan_id };
  await owner("a plan", "plans.get", named);
  await owner("change it", "plans.update", { ...named, expected_revision: 1, changes: { title: "Renamed" } });
  await owner("change what has changed", "plans.update", { ...named, expected_revision: 1, changes: { title: "Other" } });
  await owner("complete it", "plans.complete", {
    ...named,
    expected_revision: 2,
    confirmed_pay: true,
    confirmed_rights: true,
    confirmed_funding: true,
  });
  await owner("cancel it", "plans.cancel", { ...named, expected_revision: 2 });
}
