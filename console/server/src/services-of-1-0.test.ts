import { AppError, type ErrorKind } from "@brand-records/errors";
import { AccountsServiceService, AuditEntry, AuditServiceService } from "@brand-records/proto/accounts/v1";
import { Receiver, ReceiversServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc, newCallContext, OWN_METHODS, serveRpc, service, type Methods, type RpcServer } from "@brand-records/rpc";
import { openLog, openMetrics } from "@brand-records/telemetry";
import type { ServiceDefinition } from "@grpc/grpc-js";
import { actingIn, forRole, recordingFor } from "./services-of-1-0.ts";

/** A message without a field. */
const NOTHING = new Uint8Array();
const log = openLog("console", "silent");

/** Methods as 1.0 knew them: none writes an entry. */
const OF_1_0: Methods = Object.fromEntries(
  Object.entries(OWN_METHODS).map(([path, { entry: _entry, ...facts }]): [string, Methods[string]] => [path, facts]),
);

const running: { stop(): unknown }[] = [];
afterEach(() => Promise.all(running.splice(0).map((each) => each.stop())));

async function serve(definition: ServiceDefinition, handlers: object, methods: Methods): Promise<RpcServer & { address: string }> {
  const server = await serveRpc({
    config: { RPC_HOST: "127.0.0.1", RPC_PORT: 0, RPC_OPERATOR_WITHOUT_TLS: "true" },
    services: [service(definition, handlers as never)],
    log,
    metrics: openMetrics("webhook"),
    methods,
  });
  running.push(server);
  return { ...server, address: `127.0.0.1:${server.port}` };
}

const acting = (email = "ana@ulap.example") =>
  actingIn({
    call: newCallContext(5_000, "request-1"),
    client: () => ({ address: "203.0.113.7", browser: "Chrome" }),
    person: { email, via: null, limited_to: null },
    brand: { brand_id: "brd_1", role: "owner" },
  }).call;

/** Makes a change at a service of a release; accounts takes what is announced, or does something else. */
async function change(
  methods: Methods,
  answer: () => Promise<object>,
  appendAudit: (entry: object) => Promise<object> = async () => ({ entry: { ...AuditEntry.decode(NOTHING), id: "aud_1" } }),
) {
  const written: object[] = [];
  const accounts = await serve(
    AuditServiceService,
    {
      appendAudit: (entry: object) => (written.push(entry), appendAudit(entry)),
      finishAudit: async (result: object) => (written.push(result), { entry: null }),
    },
    OF_1_0,
  );
  const server = await serve(ReceiversServiceService, { createReceiver: answer }, methods);
  const audit = connectRpc(AuditServiceService, accounts.address);
  const receivers = recordingFor(ReceiversServiceService, connectRpc(ReceiversServiceService, server.address), audit, log);
  running.push(audit, receivers);
  const input = { brand_id: "brd_1", url: "https://hooks.example/", label: "Ledger", events: ["payout.paid"] };
  const [ending] = await Promise.allSettled([receivers.createReceiver(input, acting())]);
  /** Makes the change while no service runs. */
  const again = async (): Promise<unknown> => {
    await server.stop();
    return receivers.createReceiver(input, acting());
  };
  return { written, ending, again };
}

const created = async () => ({ receiver: { ...Receiver.decode(NOTHING), id: "rcv_1" }, secret: "whsec_" });

it("what a service of 1.0 has changed is written: who, what, the names of fields, and the id that it got", async () => {
  const { written, ending } = await change(OF_1_0, created);
  expect(ending.status).toBe("fulfilled");
  expect(written).toMatchObject([
    {
      brand_id: "brd_1",
      actor: "ana@ulap.example",
      action: "receiver.create",
      subject_id: null,
      fields: ["url", "label", "events"],
      request_id: "request-1",
      address: "203.0.113.7",
    },
    { entry_id: "aud_1", outcome: "done", subject_id: "rcv_1" },
  ]);
});

it.each<[ErrorKind, string]>([
  ["unavailable", "unknown"],
  ["timeout", "unknown"],
  ["internal_error", "unknown"],
  ["owner_required", "failed"],
  ["receiver_limit", "failed"],
])("what a service of 1.0 answers with %s is %s", async (kind, outcome) => {
  const { written, ending } = await change(OF_1_0, () => Promise.reject(new AppError(kind, "refused")));
  expect(ending).toMatchObject({ status: "rejected", reason: { kind } });
  expect(written.at(-1)).toMatchObject({ outcome, error_kind: kind });
});

it.each([
  ["made", created],
  ["refused", () => Promise.reject(new AppError("owner_required", "refused"))],
])("a change that a service of this release has %s writes itself", async (_, answer) => {
  expect((await change(OWN_METHODS, answer)).written).toEqual([]);
});

it("a change without an answer is written if the last answer came from 1.0, and otherwise is not: the service may have recorded it", async () => {
  for (const [methods, outcomes] of [
    [OF_1_0, ["done", "unknown"]],
    [OWN_METHODS, []],
  ] as const) {
    const { written, again } = await change(methods, created);
    await expect(again()).rejects.toMatchObject({ kind: "unavailable" });
    expect(written.flatMap((each) => ("outcome" in each ? [each.outcome] : []))).toEqual(outcomes);
  }
});

it("a change stays made if accounts does not take its entry any more", async () => {
  const { ending } = await change(OF_1_0, created, () => Promise.reject(new AppError("not_found", "gone")));
  expect(ending.status).toBe("fulfilled");
});

it("leaving is told from removing", async () => {
  const written: object[] = [];
  const audit = {
    appendAudit: async (entry: object) => (written.push(entry), { entry: null }),
    finishAudit: async () => ({ entry: null }),
  };
  const { address } = await serve(AccountsServiceService, { removeMember: async () => ({}) }, OF_1_0);
  const accounts = recordingFor(AccountsServiceService, connectRpc(AccountsServiceService, address), audit, log);
  running.push(accounts);
  await accounts.removeMember({ brand_id: "brd_1", email: "ben@ulap.example" }, acting());
  await accounts.removeMember({ brand_id: "brd_1", email: "ben@ulap.example" }, acting("ben@ulap.example"));
  expect(written).toMatchObject([{ action: "member.remove", subject_id: "ben@ulap.example" }, { action: "member.leave" }]);
});

it("members see the origin of a URL alone, also of a service that sends all of it; owners see all", () => {
  const output = () => ({ receiver: { url: "https://hooks.example/a?token=1" }, receivers: [{ url: "https://hooks.example:8443/b" }] });
  expect(forRole("owner", output())).toEqual(output());
  const origins = { receiver: { url: "https://hooks.example" }, receivers: [{ url: "https://hooks.example:8443" }] };
  expect(forRole("member", output())).toEqual(origins);
});

it("owners alone see the audit log, also of accounts that shows it to members", () => {
  expect(forRole("owner", { entries: [] })).toEqual({ entries: [] });
  expect(() => forRole("member", { entries: [] })).toThrow(expect.objectContaining({ kind: "owner_required" }));
});
