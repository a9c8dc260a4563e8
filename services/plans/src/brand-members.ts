import { AppError } from "@brand-records/errors";
import type { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import type { CallContext, RpcClient } from "@brand-records/rpc";

const LIST_MEMBERS_MS = 5_000;

/** Knows who belongs to a brand. Accounts is asked each time, so that a removed member can do nothing more at once. */
export class BrandMembers {
  readonly #accounts: Pick<RpcClient<AccountsServiceService>, "listMembers">;

  constructor(accounts: Pick<RpcClient<AccountsServiceService>, "listMembers">) {
    this.#accounts = accounts;
  }

  /**
   * @param email in lower case
   * @throws AppError `not_found` for another brand and an unknown one alike, `unavailable` if accounts does not tell
   */
  async requireMember(brandId: string, email: string, call: CallContext): Promise<void> {
    const deadline = Math.min(call.deadline, Date.now() + LIST_MEMBERS_MS);
    const { members } = await this.#accounts.listMembers({ brand_id: brandId, email }, { ...call, deadline }).catch((error: unknown) => {
      throw error instanceof AppError && error.kind === "not_found" ? notTheirs(error) : cannotCheck(error);
    });
    if (!members.some((member) => member.email === email)) throw notTheirs();
  }
}

const notTheirs = (cause?: unknown): AppError =>
  new AppError("not_found", "You are not a member of this brand, or it does not exist.", { field: "brand_id", cause });

const cannotCheck = (cause: unknown): AppError =>
  new AppError("unavailable", "Your membership cannot be checked at the moment, and nothing was changed. Try again.", { cause });
