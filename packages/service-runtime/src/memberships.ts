import { AppError } from "@brand-records/errors";
import type { AccountsServiceService, Member } from "@brand-records/proto/accounts/v1";
import type { CallContext, RpcClient } from "@brand-records/rpc";

const LIST_MEMBERS_MS = 5_000;

/** Knows who belongs to a brand. Accounts is asked each time, for a grant or here, so that a removed member can do nothing more at once. */
export class Memberships {
  readonly #accounts: Pick<RpcClient<AccountsServiceService>, "listMembers">;

  constructor(accounts: Pick<RpcClient<AccountsServiceService>, "listMembers">) {
    this.#accounts = accounts;
  }

  /**
   * @param email in lower case
   * @throws AppError `not_found` for another brand and an unknown one alike, `unavailable` if accounts does not tell
   */
  async requireMember(brandId: string, email: string, call: CallContext): Promise<void> {
    if (isProved(brandId, email, call)) return;
    const member = await this.#find(brandId, email, call).catch((error: unknown) => {
      throw isNotFound(error) ? notTheirs(error) : cannotCheck("Your membership", error);
    });
    if (member === undefined) throw notTheirs();
  }

  /**
   * @param email in lower case
   * @param privilege what only owners do, for the message
   * @throws AppError `owner_required`, `not_found` if there is no such brand, `unavailable` if accounts does not tell
   */
  async requireOwner(brandId: string, email: string, privilege: string, call: CallContext): Promise<void> {
    if (isProved(brandId, email, call) && call.person?.brand?.role === "owner") return;
    const member = await this.#find(brandId, email, call).catch((error: unknown) => {
      throw isNotFound(error) ? error : cannotCheck("Owners", error);
    });
    if (member?.role === "owner") return;
    throw new AppError("owner_required", `${email} is not an owner of this brand; only owners ${privilege}`, { field: "acting_member" });
  }

  async #find(brandId: string, email: string, call: CallContext): Promise<Member | undefined> {
    const deadline = Math.min(call.deadline, Date.now() + LIST_MEMBERS_MS);
    const { members } = await this.#accounts.listMembers({ brand_id: brandId, email }, { ...call, deadline });
    return members.find((member) => member.email === email);
  }
}

/** Whether the grant of the call has proved that this person is a member of this brand: accounts was asked then. */
const isProved = (brandId: string, email: string, { person }: CallContext): boolean =>
  person?.email === email && person.brand?.id === brandId;

const isNotFound = (error: unknown): boolean => error instanceof AppError && error.kind === "not_found";

/** One error for another brand and an unknown one. */
const notTheirs = (cause?: unknown): AppError =>
  new AppError("not_found", "You are not a member of this brand, or it does not exist.", { field: "brand_id", cause });

const cannotCheck = (subject: string, cause: unknown): AppError =>
  new AppError("unavailable", `${subject} cannot be checked at the moment, and nothing was changed. Try again.`, { cause });
