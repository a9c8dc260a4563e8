import { AppError } from "@brand-records/errors";
import {
  AccountsServiceService,
  OperatorServiceService,
  SignInServiceService,
  type Brand,
  type ExportPersonResponse,
  type Key,
  type Member,
  type SetBrandTierResponse,
  type SetBrandVerifiedResponse,
} from "@brand-records/proto/accounts/v1";
import { service, type ServedService } from "@brand-records/rpc";
import { FakeAudit } from "./fake-audit.ts";

const refuse = async (): Promise<never> => {
  throw new Error("brandctl does not sign people in");
};
const CREATED_AT = "2026-11-21T08:30:00.000Z";

/** Accounts in memory: what brandctl needs. */
export class FakeAccounts {
  readonly brands = new Map<string, Brand>();
  readonly members: Member[] = [];
  readonly keys: Key[] = [];
  readonly audit = new FakeAudit();
  /** Seconds for which each sign-in link is valid. */
  readonly links: number[] = [];
  /** Bound to a member. */
  readonly identities: string[] = [];
  /** Pages of what is kept about a person, by address. */
  readonly exported = new Map<string, Partial<ExportPersonResponse>[]>();
  /** Whose erasure has begun and not ended. */
  readonly erasing = new Set<string>();
  failErasure: AppError | undefined;
  /** Runs before an erasure ends. */
  beforeErasure = async (): Promise<void> => {};
  readonly pseudonym = `erased_${"0".repeat(26)}`;
  /** Brands whose deletion has begun. */
  readonly deletions = new Set<string>();
  isRedisDown = false;
  /** Every deletion that has begun is finished. */
  isFinished = false;
  /** Brands on a page. */
  pageSize = 2;
  /** Absent: gateways know of every change. */
  acceptedUntil: string | undefined;
  failChange: AppError | undefined;

  readonly served: readonly ServedService[] = [
    service(AccountsServiceService, {
      createBrand: async ({ name, tier, verified, id }) => {
        const chosen = id ?? `brd_made${this.brands.size}`;
        const stored = this.brands.get(chosen);
        if (stored !== undefined && stored.name !== name)
          throw new AppError("already_exists", "Another brand has this id", { field: "id" });
        const brand = stored ?? { id: chosen, name, tier, verified, epoch: 1, created_at: CREATED_AT };
        this.brands.set(chosen, brand);
        return { brand };
      },
      getBrand: async ({ brand_id }) => ({ brand: this.#brand(brand_id) }),
      listDeletedBrands: async () => ({ brand_ids: [] }),
      listBrands: async ({ after_id }) => {
        const all = [...this.brands.values()].filter(({ id }) => id > (after_id ?? "")).toSorted((a, b) => (a.id < b.id ? -1 : 1));
        const brands = all.slice(0, this.pageSize);
        return { brands, next_after_id: brands.length === this.pageSize ? (brands.at(-1)?.id ?? null) : null };
      },
      setBrandTier: async ({ brand_id, tier }) => this.#change(brand_id, { tier }),
      setBrandVerified: async ({ brand_id, verified }) => this.#change(brand_id, { verified }),
      addMember: async ({ brand_id, email, role }) => {
        this.#brand(brand_id);
        const member = { brand_id, email, role, created_at: "2026-11-21T08:31:00.000Z" };
        this.members.push(member);
        return { member };
      },
      setMemberRole: async ({ brand_id, email, role }) => {
        const member = this.members.find((one) => one.brand_id === brand_id && one.email === email);
        if (member === undefined) throw new AppError("not_found", "There is no such member", { field: "email" });
        return { member: Object.assign(member, { role }) };
      },
      listMembers: async ({ brand_id, page_token }) => {
        this.#brand(brand_id);
        const found = this.members.filter((member) => member.brand_id === brand_id);
        const { rows, next_page_token } = this.#page(
          found.toSorted((a, b) => (a.email < b.email ? -1 : 1)),
          page_token,
        );
        return { members: rows, next_page_token };
      },
      removeMember: async ({ brand_id, email }) => {
        const at = this.members.findIndex((member) => member.brand_id === brand_id && member.email === email);
        if (at === -1) throw new AppError("not_found", "There is no such member", { field: "email" });
        this.members.splice(at, 1);
        return {};
      },
      listMemberships: async () => ({ memberships: [] }),
      createKey: async ({ brand_id, name, environment, permissions, created_by }) => {
        const { verified } = this.#brand(brand_id);
        if (!verified) throw new AppError("brand_not_verified", "API keys need a verified brand");
        const key: Key = {
          id: `key_made${this.keys.length}`,
          brand_id,
          environment,
          name,
          permissions: ["records:read", ...permissions],
          hint: `brk_${environment}_…abcd`,
          created_by,
          created_at: "2026-11-21T08:32:00.000Z",
        };
        const same_name = this.keys.filter((one) => one.name.toLowerCase() === name.toLowerCase() && one.revoked_at == null);
        this.keys.unshift(key);
        return { key, secret: `brk_${environment}_${"x".repeat(32)}abcd`, same_name };
      },
      listKeys: async ({ brand_id, ids, page_token }) => {
        this.#brand(brand_id);
        const found = this.keys.filter((key) => key.brand_id === brand_id && (ids.length === 0 || ids.includes(key.id)));
        const { rows, next_page_token } = this.#page(found, page_token);
        return { keys: rows, next_page_token };
      },
      revokeKey: async ({ key_id, revoked_by }) => {
        const key = this.#key(key_id);
        Object.assign(key, { revoked_at: "2026-11-21T08:33:00.000Z", revoked_by });
        return { key, may_be_accepted_until: this.acceptedUntil };
      },
    }),
    service(SignInServiceService, {
      createSignInLink: async ({ email, ttl_seconds }) => {
        if (!this.members.some((member) => member.email === email)) throw new AppError("no_membership", "Not a member", { field: "email" });
        this.links.push(ttl_seconds);
        return { token: "t0k3n", expires_at: "2026-11-21T08:45:00.000Z" };
      },
      peekSignInLink: refuse,
      redeemSignInLink: refuse,
      signInWithIdentity: refuse,
      unlinkIdentities: async ({ email }) => {
        if (!this.members.some((member) => member.email === email)) throw new AppError("no_membership", "Not a member", { field: "email" });
        return { unlinked: this.identities.splice(0).length };
      },
    }),
    ...this.audit.served,
    service(OperatorServiceService, {
      findBrand: async ({ id }) => ({ brand_id: this.#key(id).brand_id }),
      exportPerson: async ({ email, page_token }) => ({
        memberships: [],
        sessions: [],
        sign_in_links: [],
        identities: [],
        keys: [],
        erasures: this.erasing.has(email) ? [{ pseudonym: this.pseudonym, begun_at: CREATED_AT }] : [],
        audit_entries: [],
        ...this.exported.get(email)?.[Number(page_token ?? 0)],
        next_page_token: Number(page_token ?? 0) + 1 < (this.exported.get(email)?.length ?? 0) ? String(Number(page_token ?? 0) + 1) : null,
      }),
      beginErasure: async ({ email }) => {
        this.erasing.add(email);
        return { pseudonym: this.pseudonym, settles_in_ms: 20 };
      },
      erasePerson: async ({ email, brand_ids }) => {
        await this.beforeErasure();
        if (this.failErasure !== undefined) throw this.failErasure;
        this.exported.delete(email);
        this.erasing.delete(email);
        return { brand_ids };
      },
      beginBrandDeletion: async ({ brand_id, resume }) => {
        if (!resume && this.brands.delete(brand_id)) this.deletions.add(brand_id);
        if (!this.deletions.has(brand_id)) throw new AppError("not_found", "There is no brand with this id", { field: "brand_id" });
        return { started_at: CREATED_AT, settles_in_ms: 20, quiet_ms: 20, finished: this.isFinished };
      },
      finishBrandDeletion: async () => ({
        deleted: [{ kind: "usage", rows: 7 }],
        done: true,
        redis_unavailable: this.isRedisDown,
      }),
    }),
  ];

  /** Adds a verified brand on Plus. */
  add(brand: Partial<Brand> = {}): void {
    const added = { id: "brd_1", name: "Ulap", tier: "plus", verified: true, epoch: 1, created_at: CREATED_AT, ...brand };
    this.brands.set(added.id, added);
  }

  #page<Row>(all: readonly Row[], token: string | null | undefined): { rows: Row[]; next_page_token: string | null } {
    const end = Number(token ?? 0) + this.pageSize;
    return { rows: all.slice(end - this.pageSize, end), next_page_token: end < all.length ? String(end) : null };
  }

  #key(id: string): Key {
    const key = this.keys.find((one) => one.id === id);
    if (key === undefined) throw new AppError("not_found", "There is no key with this id", { field: "key_id" });
    return key;
  }

  #brand(id: string): Brand {
    const brand = this.brands.get(id);
    if (brand === undefined) throw new AppError("not_found", "There is no brand with this id", { field: "brand_id" });
    return brand;
  }

  #change(id: string, change: Partial<Brand>): SetBrandTierResponse & SetBrandVerifiedResponse {
    const brand = { ...this.#brand(id), ...change };
    this.brands.set(id, brand);
    if (this.failChange !== undefined) throw this.failChange;
    return { brand, may_be_accepted_until: this.acceptedUntil };
  }
}
