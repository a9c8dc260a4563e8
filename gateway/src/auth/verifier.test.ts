import { randomBytes } from "node:crypto";
import { AppError } from "@brand-records/errors";
import { VerificationServiceService, type VerifyKeyResponse } from "@brand-records/proto/accounts/v1";
import { connectRpc, service, serveRpc, traceparentFrom, type CallContext, type RpcClient, type RpcServer } from "@brand-records/rpc";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { Verifier } from "./verifier.ts";

/** Accounts over real gRPC: knows the keys in `valid`, and keeps back what it says of others, or of all, until told otherwise. */
class HoldingAccounts {
  readonly valid = new Map<string, VerifyKeyResponse>();
  readonly asked: string[] = [];
  /** Which keys wait. */
  holds: (digest: string) => boolean = () => false;
  #release = Promise.withResolvers<void>();
  #server: RpcServer | undefined;
  #client: RpcClient<VerificationServiceService> | undefined;

  async start(): Promise<RpcClient<VerificationServiceService>> {
    const verifyKey = async ({ key_sha256 }: { key_sha256: Uint8Array }): Promise<VerifyKeyResponse> => {
      const digest = Buffer.from(key_sha256).toString("hex");
      this.asked.push(digest);
      if (this.holds(digest)) await this.#release.promise;
      const found = this.valid.get(digest);
      if (found === undefined) throw new AppError("invalid_key", "No");
      return found;
    };
    const [log, metrics] = [openLog("accounts", "silent"), openMetrics("accounts")];
    const config = { RPC_HOST: "127.0.0.1", RPC_PORT: 0 };
    this.#server = await serveRpc({ config, services: [service(VerificationServiceService, { verifyKey })], log, metrics });
    this.#client = connectRpc(VerificationServiceService, `127.0.0.1:${this.#server.port}`, { idempotent: ["verifyKey"] });
    return this.#client;
  }

  addKey(cacheable = true): Buffer {
    const digest = randomBytes(32);
    const brand = { brand_id: "brd_1", tier: "plus", verified: true, epoch: 1 };
    this.valid.set(digest.toString("hex"), { principal: { key_id: "key_1", key_name: "K", permissions: [], ...brand }, cacheable });
    return digest;
  }

  release(): void {
    this.holds = () => false;
    this.#release.resolve();
    this.#release = Promise.withResolvers();
  }

  async stop(): Promise<void> {
    this.release();
    this.#client?.stop();
    await this.#server?.stop();
  }
}

let accounts: HoldingAccounts;
let verifier: Verifier;
beforeEach(async () => {
  accounts = new HoldingAccounts();
  verifier = new Verifier(await accounts.start());
});
afterEach(() => accounts.stop());

const context = (withinMs = 60_000): CallContext => ({
  requestId: "test",
  traceparent: traceparentFrom(undefined),
  deadline: Date.now() + withinMs,
});
const kindOf = (verification: Promise<unknown>): Promise<string> =>
  verification.then(
    () => "verified",
    ({ kind }: AppError) => kind,
  );

/** As many made-up keys as are verified at once, none of which accounts has answered yet. */
async function floodWithMadeUpKeys(): Promise<Promise<string>[]> {
  accounts.holds = (digest) => !accounts.valid.has(digest);
  const flood = Array.from({ length: 2_000 }, () => kindOf(verifier.verify(randomBytes(32), context())));
  await eventually(() => expect(accounts.asked.filter((digest) => !accounts.valid.has(digest))).toHaveLength(256));
  return flood;
}

describe("while made-up keys take every place", () => {
  it("keys that were valid lately are verified all the same, again and again", async () => {
    const keys = Array.from({ length: 300 }, () => accounts.addKey());
    for (const key of keys) await verifier.verify(key, context());
    const flood = await floodWithMadeUpKeys();
    for (let round = 0; round < 2; round += 1) {
      expect(new Set(await Promise.all(keys.map((key) => kindOf(verifier.verify(key, context())))))).toEqual(new Set(["verified"]));
    }
    accounts.release();
    const kinds = await Promise.all(flood);
    expect(kinds.filter((kind) => kind === "invalid_key")).toHaveLength(256);
    expect(kinds.filter((kind) => kind === "unavailable")).toHaveLength(2_000 - 256);
  });

  it("a request joins a verification that is under way, for which no place is needed", async () => {
    const key = accounts.addKey();
    accounts.holds = () => true;
    const first = kindOf(verifier.verify(key, context()));
    await eventually(() => expect(accounts.asked).toHaveLength(1));
    const madeUp = Array.from({ length: 300 }, () => kindOf(verifier.verify(randomBytes(32), context())));
    const joined = kindOf(verifier.verify(key, context()));
    await eventually(() => expect(accounts.asked).toHaveLength(256));
    accounts.release();
    expect([await first, await joined]).toEqual(["verified", "verified"]);
    await Promise.all(madeUp);
  });
});

describe("a verification that several wait for", () => {
  it("does not end with the deadline of the first", async () => {
    const key = accounts.addKey();
    accounts.holds = () => true;
    // The second waits for a flight that begins after the first's, and the third joins that one.
    const first = kindOf(verifier.verify(key, context()));
    await eventually(() => expect(accounts.asked).toHaveLength(1));
    const impatient = kindOf(verifier.verify(key, context(100)));
    const patient = kindOf(verifier.verify(key, context()));
    expect(await impatient).toBe("timeout");
    accounts.release();
    expect([await first, await patient]).toEqual(["verified", "verified"]);
    expect(accounts.asked).toHaveLength(2);
  });

  it("goes on for the next request when the first has given up", async () => {
    const key = accounts.addKey();
    accounts.holds = () => true;
    expect(await kindOf(verifier.verify(key, context(50)))).toBe("timeout");
    accounts.release();
    await eventually(() => expect(verifier.remembered(key)).toMatchObject({ brand_id: "brd_1" }));
  });
});

it("remembers no principal that accounts calls not cacheable", async () => {
  const [cacheable, not] = [accounts.addKey(true), accounts.addKey(false)];
  for (const key of [cacheable, not]) await verifier.verify(key, context());
  expect(verifier.remembered(cacheable)).toMatchObject({ key_id: "key_1" });
  expect(verifier.remembered(not)).toBeUndefined();
});
