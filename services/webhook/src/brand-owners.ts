import { AppError } from "@brand-records/errors";
import type { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import type { CallContext, RpcClient } from "@brand-records/rpc";

const LIST_MEMBERS_MS = 5_000;

/** Knows who owns a brand. Accounts is asked each time, so that a removed owner can do nothing more at once. */
export class BrandOwners {
  readonly #accounts: Pick<RpcClient<AccountsServiceService>, "listMembers">;

  constructor(accounts: Pick<RpcClient<AccountsServiceService>, "listMembers">) {
    this.#accounts = accounts;
  }

  /**
   * @param email in lower case
   * @throws AppError `owner_required`, `not_found` if there is no such brand, `unavailable` if accounts does not tell
   */
  async requireOwner(brandId: string, email: string, call: CallContext): Promise<void> {
    const deadline = Math.min(call.deadline, Date.now() + LIST_MEMBERS_MS);
    const { members } = await this.#accounts.listMembers({ brand_id: brandId, email }, { ...call, deadline }).catch((error: unknown) => {
      throw error instanceof AppError && error.kind === "not_found" ? error : cannotCheck(error);
    });
    if (members.some((member) => member.email === email && member.role === "owner")) return;
    throw new AppError("owner_required", `${email} is not an owner of this brand; only owners change receivers and replay deliveries`, {
      field: "acting_member",
    });
  }
}

const cannotCheck = (cause: unknown): AppError =>
  new AppError("unavailable", "Owners cannot be checked at the moment, and nothing was changed. Try again.", { cause });
