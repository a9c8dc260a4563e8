import { randomBytes } from "node:crypto";
import { AppError } from "@brand-records/errors";
import type { VerifyKeyRequest, VerifyKeyResponse } from "@brand-records/proto/accounts/v1";
import { newCallContext, type CallContext } from "@brand-records/rpc";
import { eventually } from "@brand-records/testkit";
import { Verifier } from "./verifier.ts";

/** Accounts: knows the keys in `valid`, and holds its responses for the keys that `holds` selects until `release`. */
class HoldingAccounts {
  readonly valid = new Map<string, VerifyKeyResponse>();
  readonly verified: string[] = [];
  /** Selects the keys whose responses wait. */
  holds: (digest: string) => boolean = () => false;
  #release = Promise.withResolvers<void>();

  readonly verifyKey = async ({ key_sha256 }: VerifyKeyRequest): Promise<VerifyKeyResponse> => {
    const digest = Buffer.from(key_sha256).toString("hex");
    this.verified.push(digest);
    if (this.holds(digest)) await this.#release.promise;
    const found = this.valid.get(digest);
    if (found === undefined) throw new AppError("invalid_key", "No");
    return found;
  };

  addKey(cacheable = true): Buffer {
    const digest = randomBytes(32);
    const brand = { brand_id: "brd_1", brand_name: "Bituin", tier: "plus", verified: true, epoch: 1 };
    this.valid.set(digest.toString("hex"), { principal: { key_id: "key_1", key_name: "K", permissions: [], ...brand }, cacheable });
    return digest;
  }

  release(): void {
    this.holds = () => false;
    this.#release.resolve();
    this.#release = Promise.withResolvers();
  }
}

let accounts: HoldingAccounts;
let verifier: Verifier;
beforeEach(() => {
  accounts = new HoldingAccounts();
  verifier = new Verifier(accounts);
});

const context = (withinMs = 60_000): CallContext => newCallContext(withinMs, "test");
const kindOf = (verification: Promise<unknown>): Promise<string> =>
  verification.then(
    () => "verified",
    ({ kind }: AppError) => kind,
  );

/** Fills every slot for unproven keys with invented keys, to which accounts has not responded yet. */
async function floodWithInventedKeys(): Promise<Promise<string>[]> {
  accounts.holds = (digest) => !accounts.valid.has(digest);
  const flood = Array.from({ length: 2_000 }, () => kindOf(verifier.verify(randomBytes(32), context())));
  await eventually(() => expect(accounts.verified.filter((digest) => !accounts.valid.has(digest))).toHaveLength(256));
  return flood;
}

describe("while invented keys hold every slot", () => {
  it("keys that were recently valid are still verified, repeatedly", async () => {
    const keys = Array.from({ length: 300 }, () => accounts.addKey());
    for (const key of keys) await verifier.verify(key, context());
    const flood = await floodWithInventedKeys();
    for (let round = 0; round < 2; round += 1) {
      expect(new Set(await Promise.all(keys.map((key) => kindOf(verifier.verify(key, context())))))).toEqual(new Set(["verified"]));
    }
    accounts.release();
    const kinds = await Promise.all(flood);
    expect(kinds.filter((kind) => kind === "invalid_key")).toHaveLength(256);
    expect(kinds.filter((kind) => kind === "unavailable")).toHaveLength(2_000 - 256);
    // Refused keys gave their slots back.
    expect(await kindOf(verifier.verify(accounts.addKey(), context()))).toBe("verified");
  });

  it("a request joins a verification in progress, which needs no slot", async () => {
    const key = accounts.addKey();
    accounts.holds = () => true;
    const first = kindOf(verifier.verify(key, context()));
    await eventually(() => expect(accounts.verified).toHaveLength(1));
    const invented = Array.from({ length: 300 }, () => kindOf(verifier.verify(randomBytes(32), context())));
    const joined = kindOf(verifier.verify(key, context()));
    await eventually(() => expect(accounts.verified).toHaveLength(256));
    accounts.release();
    expect([await first, await joined]).toEqual(["verified", "verified"]);
    await Promise.all(invented);
  });
});

describe("a verification that several requests wait for", () => {
  it("does not end with the deadline of the first", async () => {
    const key = accounts.addKey();
    accounts.holds = () => true;
    // The second request waits for a flight that begins after the first ends, and the third joins it.
    const first = kindOf(verifier.verify(key, context()));
    await eventually(() => expect(accounts.verified).toHaveLength(1));
    const hurried = kindOf(verifier.verify(key, context(100)));
    const waiting = kindOf(verifier.verify(key, context()));
    expect(await hurried).toBe("timeout");
    accounts.release();
    expect([await first, await waiting]).toEqual(["verified", "verified"]);
    expect(accounts.verified).toHaveLength(2);
  });

  it("continues for the next request after the first timed out", async () => {
    const key = accounts.addKey();
    accounts.holds = () => true;
    expect(await kindOf(verifier.verify(key, context(50)))).toBe("timeout");
    accounts.release();
    await eventually(() => expect(verifier.cached(key)).toMatchObject({ brand_id: "brd_1" }));
  });
});

it("caches no principal that accounts reports as not cacheable", async () => {
  const [cacheable, not] = [accounts.addKey(true), accounts.addKey(false)];
  for (const key of [cacheable, not]) await verifier.verify(key, context());
  expect(verifier.cached(cacheable)).toMatchObject({ key_id: "key_1" });
  expect(verifier.cached(not)).toBeUndefined();
});
