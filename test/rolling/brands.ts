import { createHmac } from "node:crypto";
import { openPool, type Database } from "@brand-records/postgres";
import { AccountsServiceService, SignInServiceService } from "@brand-records/proto/accounts/v1";
import { ReceiversServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc, newCallContext, type RpcClient } from "@brand-records/rpc";
import { eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { startReceivers, type ReceivedRequest, type ReceiverServer } from "../receivers.ts";
import { approveNew } from "../submissions.ts";
import { openLink } from "../console-calls.ts";
import type { Fleet } from "./fleet.ts";

const BRANDS = 8;
/** Submissions of each brand that keep their status, among those that are approved all the time. */
export const WAITING = { status: "pending", campaign_id: "cmp_2", count: 50 } as const;
const CALL_MS = 20_000;
const ARRIVAL_MS_MAX = 60_000;

export interface RolledBrand {
  readonly id: string;
  keyId: string;
  key: string;
  readonly receiverId: string;
  /** Signs its deliveries. */
  readonly secret: string;
  /** A signed-in owner's. */
  cookie: string;
}

export interface EventCounts {
  readonly changes: number;
  readonly lost: number;
  /** Deliveries beyond the first of an event. */
  readonly repeated: number;
}

/** Of changes that people made in the console. */
export interface EntryCounts {
  readonly changes: number;
  /** Changes without an entry of the audit log. */
  readonly missing: number;
  /** Entries beyond the first of a change. */
  readonly doubled: number;
}

/** Brands with keys, records and a receiver each. Changes records as the platform does, and counts the deliveries whose signatures are right. */
export class Brands {
  readonly #db: Database;
  readonly #receiver: ReceiverServer;
  readonly #arrivals = new Map<string, number>();
  readonly #changed = new Set<string>();
  #changedByPeople = 0;
  readonly all: RolledBrand[] = [];

  private constructor(db: Database, receiver: ReceiverServer) {
    this.#db = db;
    this.#receiver = receiver;
  }

  static async create(fleet: Fleet, databaseUrl: string): Promise<Brands> {
    const receiver = await startReceivers((request) => [brands.#take(request)]);
    const brands = new Brands(openPool({ url: databaseUrl, applicationName: "platform", max: 5 }), receiver);
    for (let n = 0; n < BRANDS; n += 1) await brands.add(fleet);
    return brands;
  }

  /** Adds a brand with a key and a receiver, which has its share of the traffic from now on. No one signs in for it. */
  async add(fleet: Fleet): Promise<void> {
    const accounts = connectAccounts(fleet);
    const receivers = connectRpc(ReceiversServiceService, fleet.target("webhook"), { config: fleet.operator });
    const id = newId("brd");
    await accounts.createBrand({ id, name: `Brand ${this.all.length}`, tier: "plus", verified: true }, context());
    await accounts.addMember({ brand_id: id, email: ownerOf(id), role: "owner" }, context());
    const key = await createKey(accounts, id);
    const { receiver, secret } = await receivers.createReceiver(
      { brand_id: id, url: `${this.#receiver.url}${id}`, label: "Rolling", events: ["submission.approved"] },
      context(),
    );
    await this.#insertWaiting(id);
    this.all.push({ id, ...key, receiverId: receiver?.id ?? "", secret, cookie: "" });
    accounts.stop();
    receivers.stop();
  }

  async #insertWaiting(brandId: string): Promise<void> {
    await this.#db.query(
      `insert into records.submissions (brand_id, id, created_at, updated_at, campaign_id, creator_id, status, platform, content_url,
         earned_centavos, currency, submitted_at)
       select $1, 'sub_waiting' || n, now(), now(), $2, 'crt_1', $3, 'tiktok', 'https://video.example/', 0, 'PHP', now()
         from generate_series(1, $4::int) n`,
      [brandId, WAITING.campaign_id, WAITING.status, WAITING.count],
    );
  }

  /** Counts a delivery. @returns the status of the response */
  #take(request: ReceivedRequest): number {
    if (!this.#isSigned(request)) return 401;
    const { data } = JSON.parse(request.body) as { data: { id: string } };
    this.#arrivals.set(data.id, (this.#arrivals.get(data.id) ?? 0) + 1);
    return 204;
  }

  #isSigned({ url, headers, body }: ReceivedRequest): boolean {
    const secret = this.all.find(({ id }) => url === `/${id}`)?.secret ?? "";
    const signature = createHmac("sha256", secret)
      .update(`${String(headers["x-service-timestamp"])}.${body}`)
      .digest("hex");
    return headers["x-service-signature"] === `sha256=${signature}`;
  }

  /** Makes a new key for each brand, which its requests have from now on. Returns the ids of the keys before. */
  async replaceKeys(fleet: Fleet): Promise<readonly string[]> {
    const accounts = connectAccounts(fleet);
    const before = this.all.map(({ keyId }) => keyId);
    for (const brand of this.all) Object.assign(brand, await createKey(accounts, brand.id));
    accounts.stop();
    return before;
  }

  /** Revokes keys of the brands, as their owners. */
  async revoke(fleet: Fleet, keyIds: readonly string[]): Promise<void> {
    const accounts = connectAccounts(fleet);
    for (const [n, key_id] of keyIds.entries()) {
      const { id } = this.all[n] as RolledBrand;
      await accounts.revokeKey({ brand_id: id, key_id, revoked_by: ownerOf(id) }, context());
    }
    accounts.stop();
  }

  /** Signs an owner of each brand in. */
  async signIn(fleet: Fleet): Promise<void> {
    const links = connectRpc(SignInServiceService, fleet.target("accounts"), { config: fleet.operator });
    for (const brand of this.all) {
      const { token } = await links.createSignInLink({ email: ownerOf(brand.id), ttl_seconds: 0 }, context());
      brand.cookie = (await openLink(fleet.origin("console") ?? "", `http://localhost/sign-in#${token}`)).cookie;
    }
    links.stop();
  }

  /** Approves a new submission, which makes an event. */
  async change({ id }: RolledBrand): Promise<void> {
    const [record = ""] = await approveNew(this.#db, id, 1, "rejected");
    this.#changed.add(record);
  }

  /** Waits until every change was delivered, for a minute at most. */
  async count(): Promise<EventCounts> {
    const lost = (): string[] => [...this.#changed].filter((record) => !this.#arrivals.has(record));
    const requireAll = (): void => {
      if (lost().length > 0) throw new Error("some have not arrived");
    };
    // Those that are missing at the end are in the result.
    await eventually(requireAll, { timeoutMs: ARRIVAL_MS_MAX }).catch(() => {});
    const arrivals = [...this.#arrivals.values()].reduce((sum, count) => sum + count, 0);
    return { changes: this.#changed.size, lost: lost().length, repeated: arrivals - this.#arrivals.size };
  }

  /** A person's change was answered with success. */
  noteChangeByPerson(): void {
    this.#changedByPeople += 1;
  }

  /** Waits until the audit log has every change of a person, for a minute at most. */
  async countEntries(): Promise<EntryCounts> {
    const read = async () => {
      const [row] = await this.#db.query<{ entries: number; requests: number }>(
        `select count(*)::int as entries, count(distinct request_id)::int as requests from accounts.audit_entries
          where action in ('receiver.update', 'member.add') and actor is not null and outcome = 'done'`,
      );
      return row ?? { entries: 0, requests: 0 };
    };
    const requireAll = async (): Promise<void> => {
      if ((await read()).requests < this.#changedByPeople) throw new Error("some have no entry");
    };
    await eventually(requireAll, { timeoutMs: ARRIVAL_MS_MAX }).catch(() => {});
    const { entries, requests } = await read();
    return { changes: this.#changedByPeople, missing: Math.max(0, this.#changedByPeople - requests), doubled: entries - requests };
  }

  async stop(): Promise<void> {
    await this.#db.stop();
    this.#receiver.stop();
  }
}

const context = () => newCallContext(CALL_MS, "rolling");

const ownerOf = (brandId: string): string => `owner@${brandId.slice(4)}.example`;

const connectAccounts = (fleet: Fleet): RpcClient<AccountsServiceService> =>
  connectRpc(AccountsServiceService, fleet.target("accounts"), { config: fleet.operator });

async function createKey(accounts: RpcClient<AccountsServiceService>, brandId: string): Promise<{ keyId: string; key: string }> {
  const { key, secret } = await accounts.createKey(
    { brand_id: brandId, name: "Rolling", environment: "live", permissions: ["campaigns:prepare"], created_by: ownerOf(brandId) },
    context(),
  );
  return { keyId: key?.id ?? "", key: secret };
}
