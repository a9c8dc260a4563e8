import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { grantKeyFrom, signGrant, type Grant } from "@brand-records/identity";
import * as accounts from "@brand-records/proto/accounts/v1";
import { AUDIT_ACTIONS, METHODS, type MethodFacts } from "@brand-records/proto/methods";
import * as plans from "@brand-records/proto/plans/v1";
import * as webhook from "@brand-records/proto/webhook/v1";
import { openPool } from "@brand-records/postgres";
import { freePort } from "@brand-records/postgres/embedded";
import { actsForPerson, connectRpc, GRANT_METADATA, newCallContext, type RpcClient } from "@brand-records/rpc";
import {
  CertificateAuthority,
  createDatabase,
  eventually,
  newTestKey,
  startProcess,
  TestIssuer,
  withToken,
  type ServiceProcess,
  type TestDatabase,
} from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { Client, credentials, Metadata, status, type MethodDefinition, type ServiceError } from "@grpc/grpc-js";
import { logOf } from "../admin-port.ts";
import { planInput } from "../plan-input.ts";
import { scriptOf } from "../program-script.ts";

/**
 * One promise: a console that was taken over acts for those alone whose sessions it has, and the audit log says what it did in their names,
 * and nothing else. Its certificate is good; every method of the running services that acts for a person is called with each kind of grant.
 */

const PREFIX = "spiffe://records.example/ns/live/sa/";
const SERVED = { accounts, plans, webhook };
type ServiceName = keyof typeof SERVED;
type Method = MethodDefinition<Record<string, unknown>, unknown>;

const OWNER = "ana@ulap.example";
const MEMBER = "ben@ulap.example";
const OTHER = "zoe@alon.example";
const brand = newId("brd");
const theirs = newId("brd");

const pepper = randomBytes(32);
const key = grantKeyFrom("1", pepper);

let folder: string;
let database: TestDatabase;
let authority: CertificateAuthority;
let provider: TestIssuer;
let running: Record<ServiceName, ServiceProcess>;
let operator: {
  accounts: RpcClient<accounts.AccountsServiceService>;
  signIn: RpcClient<accounts.SignInServiceService>;
  audit: RpcClient<accounts.AuditServiceService>;
  plans: RpcClient<plans.PlansServiceService>;
  receivers: RpcClient<webhook.ReceiversServiceService>;
  deliveries: RpcClient<webhook.DeliveriesServiceService>;
};
const clients = new Map<ServiceName, Client>();

const tlsOf = (service: string) => {
  const { cert, key: privateKey, ca } = authority.issue(service, { names: ["DNS:localhost", `URI:${PREFIX}${service}`] });
  return { RPC_TLS_CERT: cert, RPC_TLS_KEY: privateKey, RPC_TLS_CA: ca };
};
const addressOf = (name: ServiceName): string => `localhost:${(running[name].ready as { rpc_port: number }).rpc_port}`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "grants-"));
  authority = new CertificateAuthority(folder);
  database = await createDatabase("empty");
  provider = await TestIssuer.start();
  const port = await freePort();
  const started = (Object.keys(SERVED) as ServiceName[]).map(async (name) => {
    const env = {
      ...tlsOf(name),
      ...(name === "accounts" && provider.settings),
      DATABASE_URL: database.url,
      ACCOUNTS_ADDRESS: `localhost:${port}`,
      KEY_PEPPERS: `1:${pepper.toString("base64")}`,
      RECEIVER_SECRET_KEYS: `1:${randomBytes(32).toString("base64")}`,
      RPC_PORT: name === "accounts" ? String(port) : "0",
      STOP_GRACE_MS: "0",
      LOG_LEVEL: "debug",
    };
    return [name, await startProcess({ name, script: scriptOf(name), env })] as const;
  });
  running = Object.fromEntries(await Promise.all(started)) as typeof running;
  const config = tlsOf("operator");
  operator = {
    accounts: connectRpc(accounts.AccountsServiceService, addressOf("accounts"), { config }),
    signIn: connectRpc(accounts.SignInServiceService, addressOf("accounts"), { config }),
    audit: connectRpc(accounts.AuditServiceService, addressOf("accounts"), { config }),
    plans: connectRpc(plans.PlansServiceService, addressOf("plans"), { config }),
    receivers: connectRpc(webhook.ReceiversServiceService, addressOf("webhook"), { config }),
    deliveries: connectRpc(webhook.DeliveriesServiceService, addressOf("webhook"), { config }),
  };
  const { RPC_TLS_CERT, RPC_TLS_KEY, RPC_TLS_CA } = tlsOf("console");
  const console = credentials.createSsl(readFileSync(RPC_TLS_CA), readFileSync(RPC_TLS_KEY), readFileSync(RPC_TLS_CERT));
  for (const name of Object.keys(SERVED) as ServiceName[]) clients.set(name, new Client(addressOf(name), console));
  for (const id of [brand, theirs])
    await operator.accounts.createBrand({ id, name: "Ulap", tier: "enterprise", verified: true }, callContext());
  const members = [
    [brand, OWNER, "owner"],
    [brand, MEMBER, "member"],
    [theirs, OTHER, "owner"],
    // A member of both.
    [theirs, MEMBER, "member"],
  ] as const;
  for (const [brand_id, email, role] of members) await operator.accounts.addMember({ brand_id, email, role }, callContext());
});
afterAll(async () => {
  for (const client of clients.values()) client.close();
  for (const client of Object.values(operator)) client.stop();
  await Promise.all(Object.values(running).map((process) => process.kill()));
  await provider.stop();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const callContext = () => newCallContext(30_000, "test");

interface Answer {
  /** `OK`, the kind of an error, or the code of a refusal that has none. */
  readonly outcome: string;
  readonly message?: Record<string, unknown>;
}

/** Calls as the console does. Fields that are not given are empty. */
function call(service: ServiceName, method: Method, fields: object, grant?: string, requestId = "test"): Promise<Answer> {
  const metadata = new Metadata();
  metadata.set("x-request-id", requestId);
  if (grant !== undefined) metadata.set(GRANT_METADATA, grant);
  const request = { ...method.requestDeserialize(Buffer.alloc(0)), ...fields };
  return new Promise((resolve) => {
    clients
      .get(service)
      ?.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        metadata,
        (error: ServiceError | null, message) => {
          if (error === null) return resolve({ outcome: "OK", message: message as Record<string, unknown> });
          resolve({ outcome: error.metadata.get("error-kind")[0]?.toString() ?? status[error.code] ?? "" });
        },
      );
  });
}

const { getSession, endSession } = accounts.SessionsServiceService as unknown as Record<"getSession" | "endSession", Method>;
const { redeemSignInLink } = accounts.SignInServiceService as unknown as Record<"redeemSignInLink", Method>;

/** Signs a person in by a link: the operator's, or that of an owner of a brand. @returns the session's token */
async function signIn(email: string, owners: { brand_id?: string; acting_member?: string } = {}): Promise<string> {
  const { token } = await operator.signIn.createSignInLink({ email, ttl_seconds: 0, ...owners }, callContext());
  const { message } = await call("accounts", redeemSignInLink, { token });
  return (message as { session: { token: string } }).session.token;
}

type Grants = Record<string, string>;

async function grantsOf(token: string, brand_id: string | null, client?: object): Promise<Grants> {
  const { message } = await call("accounts", getSession, { token, with_grants: true, brand_id, client });
  return (message as { grants: Grants }).grants;
}

/** Methods that act for people, of every service; the one that ends sessions comes last. */
const METHODS_FOR_PEOPLE = (Object.keys(SERVED) as ServiceName[])
  .flatMap((service) =>
    Object.entries(SERVED[service] as object)
      .filter(([name]) => name.endsWith("ServiceService"))
      .flatMap(([, definition]) => Object.values(definition as object) as Method[])
      .map((method) => ({ service, method, facts: METHODS[method.path] as MethodFacts })),
  )
  .filter(({ facts }) => facts.callers.includes("console") && actsForPerson(facts))
  .toSorted((a, b) => Number(a.method.path.endsWith("EndSessionsOf")) - Number(b.method.path.endsWith("EndSessionsOf")));

/** Kinds of errors by which a method refuses a grant. Any other outcome shows that the method itself was reached. */
const REFUSALS = new Set(["PERMISSION_DENIED", "invalid_session", "timeout", "not_found", "owner_required", "UNAUTHENTICATED"]);

async function outcomesWith(grants: Grants | undefined): Promise<Record<string, string>> {
  const outcomes: Record<string, string> = {};
  for (const { service, method } of METHODS_FOR_PEOPLE) {
    const { outcome } = await call(service, method, { brand_id: brand }, grants?.[service]);
    outcomes[method.path] = REFUSALS.has(outcome) ? outcome : "reached";
  }
  return outcomes;
}

const expected = (of: (facts: MethodFacts) => string): Record<string, string> =>
  Object.fromEntries(METHODS_FOR_PEOPLE.map(({ method, facts }) => [method.path, of(facts)]));

/** What a session of the owner says, signed by whom and when a test likes. */
async function signed(token: string, changes: Partial<Grant>, by = key, at = new Date()): Promise<Grants> {
  const claims = (await grantsOf(token, brand))["accounts"]?.split(".")[1] ?? "";
  const { sid: session } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { sid: string };
  const grant: Grant = {
    email: OWNER,
    via: null,
    limitedTo: null,
    session,
    brand: { id: brand, role: "owner" },
    client: { address: null, browser: null },
    ...changes,
  };
  const grants = (["accounts", "plans", "webhook"] as const).map(async (name) => [name, await signGrant(grant, name, by, at)] as const);
  return Object.fromEntries(await Promise.all(grants));
}

it("covers the methods of every service that act for people", () => {
  expect(METHODS_FOR_PEOPLE.length).toBeGreaterThan(40);
  expect(new Set(METHODS_FOR_PEOPLE.map(({ service }) => service))).toEqual(new Set(["accounts", "plans", "webhook"]));
});

it("serves a member's grant but for what owners do, and an owner's for everything", async () => {
  const member = await outcomesWith(await grantsOf(await signIn(MEMBER), brand));
  expect(member).toEqual(expected(({ actor }) => (actor === "owner" ? "owner_required" : "reached")));
  expect(await outcomesWith(await grantsOf(await signIn(OWNER), brand))).toEqual(expected(() => "reached"));
});

it("refuses every call without a grant", async () => {
  expect(await outcomesWith(undefined)).toEqual(expected(() => "PERMISSION_DENIED"));
});

it("refuses a grant that accounts gave out for another service", async () => {
  const { accounts: forAccounts = "", plans: forPlans = "", webhook: forWebhook = "" } = await grantsOf(await signIn(OWNER), brand);
  const moved = { accounts: forWebhook, plans: forAccounts, webhook: forPlans };
  expect(await outcomesWith(moved)).toEqual(expected(() => "invalid_session"));
});

it("refuses a grant of another brand's owner, and one of a brand that the session does not open", async () => {
  const ofPerson = ({ actor }: MethodFacts): string => (actor === "person" ? "reached" : "not_found");
  const other = await signIn(OTHER);
  expect(await outcomesWith(await grantsOf(other, theirs))).toEqual(expected(ofPerson));
  // The person is not a member, so the grant names no brand.
  const again = await signIn(OTHER);
  expect(await outcomesWith(await grantsOf(again, brand))).toEqual(expected(ofPerson));
  const limited = await signIn(MEMBER, { brand_id: theirs, acting_member: OTHER });
  expect(await outcomesWith(await grantsOf(limited, brand))).toEqual(expected(ofPerson));
});

it("refuses a grant of a session that has ended, with the next call, and gives out no more", async () => {
  const token = await signIn(OWNER);
  const grants = await grantsOf(token, brand);
  await call("accounts", endSession, { token });
  expect(await outcomesWith(grants)).toEqual(expected(() => "invalid_session"));
  expect(await call("accounts", getSession, { token, with_grants: true, brand_id: brand })).toEqual({ outcome: "invalid_session" });
});

it("refuses a removed member's grant with the next call", async () => {
  const email = "cai@ulap.example";
  for (const brand_id of [brand, theirs]) await operator.accounts.addMember({ brand_id, email, role: "owner" }, callContext());
  const grants = await grantsOf(await signIn(email), brand);
  await operator.accounts.removeMember({ brand_id: brand, email }, callContext());
  expect(await outcomesWith(grants)).toEqual(expected(({ actor }) => (actor === "person" ? "reached" : "not_found")));
});

it("refuses a grant after its 60 s, and what others have signed", async () => {
  const token = await signIn(OWNER);
  const late = await signed(token, {}, key, new Date(Date.now() - 71_000));
  expect(await outcomesWith(late)).toEqual(expected(() => "timeout"));
  const forged = await signed(token, {}, grantKeyFrom("1", randomBytes(32)));
  expect(await outcomesWith(forged)).toEqual(expected(() => "invalid_session"));
  for (const nonsense of ["x", "a.b.c", ".."])
    expect(await outcomesWith({ accounts: nonsense, plans: nonsense, webhook: nonsense })).toEqual(expected(() => "invalid_session"));
});

it("gives nothing for what a console can make up: a token, a link, a grant", async () => {
  const { peekSignInLink } = accounts.SignInServiceService as unknown as Record<string, Method>;
  const guess = randomBytes(32).toString("base64url");
  for (const [method, outcome] of [
    [getSession, "invalid_session"],
    [peekSignInLink, "sign_in_link_unknown"],
    [redeemSignInLink, "sign_in_link_unknown"],
  ] as const)
    expect(await call("accounts", method as Method, { token: guess })).toEqual({ outcome });
});

it("signs no one in by an identity that a console can make up, nor twice by what it has seen", async () => {
  const { signInWithIdentity } = accounts.SignInServiceService as unknown as Record<"signInWithIdentity", Method>;
  const attempt = async (request: object): Promise<string> => (await call("accounts", signInWithIdentity, request)).outcome;
  const claims = { ...withToken("", ""), issuer: provider.issuer, subject: "made up", email: OWNER };
  expect(await attempt(claims)).toBe("invalid_id_token");
  const made = provider.claims({ email: OWNER });
  const byItself = await provider.sign(made, await newTestKey(provider.key.kid));
  expect(await attempt({ ...withToken(byItself), issuer: provider.issuer, subject: "made up", email: OWNER })).toBe("invalid_id_token");
  expect(await attempt(await provider.request({ email: OWNER, aud: "webshop" }))).toBe("invalid_id_token");
  expect(await attempt(await provider.request({ email: OWNER, iat: -700, exp: 3_600 }))).toBe("invalid_id_token");
  const seen = await provider.request({ email: OWNER });
  // What it claims beside a token counts for nothing.
  const { message } = await call("accounts", signInWithIdentity, { ...seen, subject: "made up", email: OTHER });
  expect(message).toMatchObject({ session: { email: OWNER } });
  expect(await attempt(seen)).toBe("invalid_id_token");
  const checks = () =>
    logOf(running.accounts)
      .filter(({ msg }) => msg === "ID token refused")
      .map(({ check }) => check);
  await eventually(() => expect(checks()).toEqual(["absent", "signature", "audience", "older than 10 minutes", "used before"]));
  const log = running.accounts.output();
  for (const secret of [seen.nonce, "made up"]) expect([secret, log.includes(secret)]).toEqual([secret, false]);
});

it("acts for the person of the grant, whatever person the request names", async () => {
  const grants = await grantsOf(await signIn(OWNER), brand);
  const { createKey, addMember } = accounts.AccountsServiceService as unknown as Record<string, Method>;
  const made = await call(
    "accounts",
    createKey as Method,
    { brand_id: brand, name: "Reports", environment: "live", permissions: [], created_by: OTHER },
    grants["accounts"],
  );
  expect(made.message).toMatchObject({ key: { created_by: OWNER } });
  const member = await grantsOf(await signIn(MEMBER), brand);
  const added = { brand_id: brand, email: "eve@ulap.example", role: "owner", acting_member: OWNER };
  expect(await call("accounts", addMember as Method, added, member["accounts"])).toEqual({ outcome: "owner_required" });
});

const someone = (): string => `${newId("x")}@ulap.example`;

async function newMember(): Promise<string> {
  const email = someone();
  await operator.accounts.addMember({ brand_id: brand, email, role: "member" }, callContext());
  return email;
}

async function newKey(): Promise<string> {
  const request = { brand_id: brand, name: "Reports", environment: "live", permissions: [], created_by: OWNER };
  return (await operator.accounts.createKey(request, callContext())).key?.id ?? "";
}

async function newPlan(): Promise<{ plan_id: string; expected_revision: number }> {
  const input = { ...planInput(), planning_budget_centavos: 7_500_050, requirements: [], platforms: [] };
  const { plan } = await operator.plans.preparePlan({ brand_id: brand, input }, callContext());
  return { plan_id: plan?.id ?? "", expected_revision: 1 };
}

/** A receiver, in the state that a change needs. What is sent to it gets no further: its name has no address. */
async function newReceiver(
  prepare?: (key: { brand_id: string; receiver_id: string }) => Promise<unknown>,
): Promise<{ receiver_id: string }> {
  const request = { brand_id: brand, url: `https://${newId("x").slice(2)}.receiver.invalid/`, label: "Books", events: ["payout.paid"] };
  const receiver_id = (await operator.receivers.createReceiver(request, callContext())).receiver?.id ?? "";
  await prepare?.({ brand_id: brand, receiver_id });
  return { receiver_id };
}

/** Waits for its second attempt. */
async function newDelivery(): Promise<{ receiver_id: string; delivery_id: string }> {
  const receiver = await newReceiver();
  const of = { brand_id: brand, ...receiver };
  const { delivery_id } = await operator.receivers.sendTest({ ...of, next: false }, callContext());
  await eventually(async () => {
    const { delivery } = await operator.deliveries.getDelivery({ brand_id: brand, delivery_id }, callContext());
    expect(delivery).toMatchObject({ state: "pending", attempts: 1 });
  });
  return { ...receiver, delivery_id };
}

/** Of 50,000 events: it is not over when it is cancelled. */
async function newReplay(): Promise<{ replay_id: string }> {
  const { receiver_id } = await newReceiver();
  const db = openPool({ url: database.url, applicationName: "test", max: 1 });
  await db.query("select webhook.ensure_day(current_date)");
  await db.query(
    `insert into webhook.events (id, created_at, brand_id, type, data, test, received_at)
     select 'evt_' || n, now(), $1, 'payout.paid', '{"id":"po_1"}', false, now() from generate_series(1, 50000) n`,
    [brand],
  );
  await db.stop();
  const request = { brand_id: brand, receiver_id, since: new Date(Date.now() - 3_600_000).toISOString(), failed_only: false };
  return { replay_id: (await operator.deliveries.replayEvents(request, callContext())).replay?.id ?? "" };
}

/** What each changing method needs to change something. */
const CHANGES: Readonly<Record<string, () => Promise<object>>> = {
  AddMember: async () => ({ email: someone(), role: "member" }),
  SetMemberRole: async () => ({ email: await newMember(), role: "owner" }),
  SetMailSettings: async () => ({ receivers: false }),
  RemoveMember: async () => ({ email: await newMember() }),
  CreateKey: async () => ({ name: "Reports", environment: "live", permissions: [] }),
  RevokeKey: async () => ({ key_id: await newKey() }),
  CreateSignInLink: async () => ({ email: await newMember() }),
  UpdatePlan: async () => ({ ...(await newPlan()), changes: { title: "Other", requirements: null, platforms: null } }),
  CancelPlan: newPlan,
  CompletePlan: async () => ({ ...(await newPlan()), confirmed_pay: true, confirmed_rights: true, confirmed_funding: true }),
  CreateReceiver: async () => ({ url: `https://${newId("x").slice(2)}.receiver.invalid/`, label: "Books", events: ["payout.paid"] }),
  UpdateReceiver: async () => ({ ...(await newReceiver()), label: "Other" }),
  EnableReceiver: async () => ({ ...(await newReceiver((key) => operator.receivers.disableReceiver(key, callContext()))), held: "drop" }),
  DisableReceiver: newReceiver,
  DeleteReceiver: newReceiver,
  RotateSecret: newReceiver,
  ActivateSecret: async () => ({ ...(await newReceiver((key) => operator.receivers.rotateSecret(key, callContext()))), force: true }),
  SendWaiting: newDelivery,
  SendTest: newReceiver,
  ReplayDelivery: newDelivery,
  ReplayEvents: async () => ({ ...(await newReceiver()), since: new Date().toISOString() }),
  CancelReplay: newReplay,
  EndSessionsOf: async () => ({}),
};
const CHANGING = METHODS_FOR_PEOPLE.filter(({ facts }) => facts.entry !== undefined);

const entriesOf = async (requestId: string) => {
  const { entries } = await operator.audit.listAudit({ brand_id: brand, page_size: 200 }, callContext());
  return entries.filter(({ request_id }) => request_id === requestId);
};

/** What is in a response at a path such as `response.key.id`, or in a request. */
const at = (request: object, response: unknown, path: string): unknown =>
  path
    .replace(/^response\./, "")
    .split(".")
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | null)?.[name], path.startsWith("response.") ? response : request);

it("covers every method that changes something for a person", () => {
  expect(Object.keys(CHANGES)).toEqual(expect.arrayContaining(CHANGING.map(({ method }) => method.path.split("/")[2])));
});

it.each(CHANGING.map(({ method }) => method.path))(
  "%s is in the audit log as it was, with the session's person, whatever is claimed",
  async (path) => {
    const { service, method, facts } = CHANGING.find((one) => one.method.path === path)!;
    const client = { address: "203.0.113.7", browser: "Firefox" };
    const grants = await grantsOf(await signIn(OWNER), brand, client);
    const lies = { acting_member: OTHER, created_by: OTHER, revoked_by: OTHER, member: OTHER, via: OTHER, actor: OTHER };
    const request: object = { ...lies, brand_id: brand, ...(await CHANGES[path.split("/")[2] ?? ""]?.()) };
    const { outcome, message } = await call(service, method, request, grants[service], path);
    expect(outcome).toBe("OK");
    const { action, subject, fields } = facts.entry!;
    const named = subject === undefined ? null : at(request, message, subject);
    const subject_id = path.endsWith("EndSessionsOf") ? OWNER : named;
    const entry = { action, subject_id, actor: OWNER, via: null, outcome: "done", tries: 1, request_id: path, ...client };
    await eventually(async () => expect(await entriesOf(path)).toEqual([expect.objectContaining(entry)]));
    const [written] = await entriesOf(path);
    expect(fields[0] === "changes" ? ["title"] : fields).toEqual(expect.arrayContaining(written?.fields ?? ["absent"]));
  },
);

it("has no entry of a change that was refused as done, and counts its refusals", async () => {
  const grants = await grantsOf(await signIn(MEMBER), brand);
  for (const { service, method, facts } of CHANGING.filter(({ facts: { actor } }) => actor === "owner")) {
    const requestId = `refused ${method.path.split("/")[2]}`.replace(" ", "-");
    for (let n = 0; n < 2; n += 1)
      expect(await call(service, method, { brand_id: brand }, grants[service], requestId)).toEqual({ outcome: "owner_required" });
    const refused = { action: facts.entry?.action, actor: MEMBER, outcome: "failed", error_kind: "owner_required" };
    await eventually(async () =>
      expect(await entriesOf(requestId)).toEqual([expect.objectContaining({ ...refused, tries: expect.any(Number) })]),
    );
    expect((await entriesOf(requestId))[0]?.tries).toBeGreaterThanOrEqual(2);
  }
});

it("writes no entry without a change", async () => {
  const grants = await grantsOf(await signIn(OWNER), brand);
  const { appendAudit } = accounts.AuditServiceService as unknown as Record<"appendAudit", Method>;
  for (const action of AUDIT_ACTIONS) {
    const entry = { brand_id: brand, action, subject_id: "rcv_1", request_id: "alone" };
    await call("accounts", appendAudit, entry, grants["accounts"]);
  }
  expect(await entriesOf("alone")).toEqual([]);
  const { recordAudit } = accounts.AuditServiceService as unknown as Record<"recordAudit", Method>;
  expect(await call("accounts", recordAudit, { entries: [] }, grants["accounts"])).toEqual({ outcome: "PERMISSION_DENIED" });
});

it("writes no grant and no ID token into a log", () => {
  for (const process of Object.values(running)) expect(process.output()).not.toMatch(/eyJ[\w-]{20}/);
});
