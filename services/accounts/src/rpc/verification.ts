import { AppError } from "@brand-records/errors";
import type { VerificationServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import type { AccountsDependencies } from "../dependencies.ts";
import { noEpochPublisher } from "../epochs/epoch-publisher.ts";
import { verifyKey } from "../use-cases/keys.ts";

export function verificationHandlers(deps: AccountsDependencies): Handlers<VerificationServiceService> {
  return {
    async verifyKey({ key_sha256 }) {
      if (key_sha256.length !== 32) throw new AppError("invalid_request", "key_sha256 must be 32 bytes", { field: "key_sha256" });
      return { principal: await verifyKey(deps, key_sha256), cacheable: deps.epochs !== noEpochPublisher };
    },
  };
}
