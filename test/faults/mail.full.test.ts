import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPool, type Database } from "@brand-records/postgres";
import { newCallContext } from "@brand-records/rpc";
import { CertificateAuthority, eventually, type MailServer, startMailServer } from "@brand-records/testkit";
import { planInput } from "../plan-input.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/**
 * One promise: of everything that owners get mail of they get one, or at most two after a kill, whatever is killed while it happens and is
 * sent: accounts, webhook, or the mail server.
 */

/** Of each victim. */
const KILLS = Number(process.env["KILLS"] ?? 2);
const VICTIMS = ["accounts", "webhook", "mail server"] as const;
const HAPPEN_PER_SECOND = 20;
const IN_FLIGHT_MAX = 40;
/** What happens between two kills. */
const BETWEEN_KILLS = 30;
const BRANDS = 12;
/** No loopback name: TLS is required there. */
const HOST = "127.0.0.2";

const folder = mkdtempSync(join(tmpdir(), "mail-faults-"));
let server: MailServer;
let stack: Stack;
let db: Database;
let brands: TestBrand[];

beforeAll(async () => {
  const certificate = new CertificateAuthority(folder).issue("mail", { names: [`IP:${HOST}`] });
  server = await startMailServer({ host: HOST, certificate });
  const mail = {
    SMTP_URL: `smtp://${HOST}:${server.port}`,
    SMTP_TLS_CA: certificate.ca,
    MAIL_FROM: "no-reply@records.example",
    PUBLIC_URL: "https://records.example",
  };
  stack = await startStack({ envOf: { accounts: { ...mail, KEYS_PER_BRAND_MAX: "10000" } } });
  db = openPool({ url: stack.databaseUrl, applicationName: "mail", max: 2 });
  brands = await Promise.all(Array.from({ length: BRANDS }, () => stack.createBrand()));
});
afterAll(async () => {
  await db.stop();
  await stack.stop();
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Something of which an owner gets mail. It may happen, though its caller gets no response. */
async function happen(n: number): Promise<void> {
  const { id: brand_id, owner } = brands[n % BRANDS] as TestBrand;
  const call = newCallContext(5_000, `m${n}`);
  const makers = [
    () => stack.accounts.createKey({ brand_id, name: `k${n}`, environment: "live", permissions: [], created_by: owner }, call),
    async () => {
      const url = `https://receiver.example/${n}`;
      const { receiver } = await stack.receivers.createReceiver({ brand_id, url, label: "Books", events: ["payout.paid"] }, call);
      await stack.receivers.disableReceiver({ brand_id, receiver_id: receiver?.id ?? "" }, call);
    },
    () => {
      const input = { ...planInput(), planning_budget_centavos: 7_500_050, requirements: [], platforms: [] };
      return stack.plans.preparePlan({ brand_id, input }, call);
    },
  ];
  await makers[Math.floor(n / BRANDS) % makers.length]?.();
}

/** Things happen until `stop`. */
function work() {
  let [made, sent, running] = [0, 0, 0];
  const timer = setInterval(() => {
    if (running >= IN_FLIGHT_MAX) return;
    running += 1;
    void happen((sent += 1))
      .then(() => (made += 1))
      .catch(() => {})
      .finally(() => (running -= 1));
  }, 1_000 / HAPPEN_PER_SECOND);
  return {
    made: () => made,
    async stop() {
      clearInterval(timer);
      await eventually(() => expect(running).toBe(0));
    },
  };
}

const waiting = () => db.query("select email from accounts.mails where due_at is not null");

/** An hour passes, and every lease of a process that was killed: while none sends, so that no mail has two senders. */
async function passHour(): Promise<void> {
  await stack.processes.accounts.kill("SIGKILL");
  await db.query("update accounts.mails set due_at = case when due_at is not null then now() end, sent_at = sent_at - interval '1 hour'");
  await stack.restart("accounts");
}

it("of each once, or at most twice, and none is lost", async () => {
  const working = work();
  const kill: Record<(typeof VICTIMS)[number], () => Promise<void>> = {
    accounts: async () => {
      await stack.processes.accounts.kill("SIGKILL");
      await stack.restart("accounts");
    },
    webhook: async () => {
      await stack.processes.webhook.kill("SIGKILL");
      await stack.restart("webhook");
    },
    "mail server": async () => {
      await server.kill();
      await server.start();
    },
  };
  let kills = 0;
  for (let round = 0; round < KILLS; round += 1) {
    for (const victim of VICTIMS) {
      const [happened, received] = [working.made(), server.mails.length];
      await eventually(() => expect(working.made()).toBeGreaterThanOrEqual(happened + BETWEEN_KILLS), { timeoutMs: 60_000 });
      // The next mail is being sent.
      if (round === 0) await eventually(() => expect(server.mails.length).toBeGreaterThan(received), { timeoutMs: 60_000 });
      await kill[victim]();
      kills += 1;
    }
  }
  await working.stop();
  for (const schema of ["plans", "webhook"])
    await eventually(
      async () => expect(await db.query(`select id from ${schema}.audit_outbox where acknowledged_at is null`)).toEqual([]),
      { timeoutMs: 60_000 },
    );
  await eventually(
    async () => {
      if ((await waiting()).length === 0) return;
      await passHour();
      kills += 1;
      await eventually(async () => expect(await waiting()).toEqual([]), { timeoutMs: 20_000 });
    },
    { timeoutMs: 300_000 },
  );

  const happened = await db.query<{ brand_id: string; id: string }>(
    `select brand_id, id from accounts.keys union all select brand_id, id from webhook.receivers where not enabled
      union all select brand_id, id from plans.plans`,
  );
  const ownerOf = new Map(brands.map(({ id, owner }) => [id, owner]));
  const times = happened.map(({ brand_id, id }) => {
    const mails = server.mails.filter(({ to, text }) => to[0] === ownerOf.get(brand_id) && new RegExp(`${id}\\b`).test(text));
    return { id, times: mails.length };
  });
  expect(happened.length).toBeGreaterThan(KILLS * VICTIMS.length * BETWEEN_KILLS);
  expect(times.filter((each) => each.times === 0)).toEqual([]);
  expect(times.filter((each) => each.times > 2)).toEqual([]);
  expect(server.mails.every(({ isSecure }) => isSecure)).toBe(true);
  const twice = times.filter((each) => each.times === 2).length;
  console.info(`${happened.length} things in ${server.mails.length} mails, ${twice} of them twice, ${kills} kills`);
}, 900_000);
