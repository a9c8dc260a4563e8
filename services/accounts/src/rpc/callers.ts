import type {
  AccountsServiceService,
  AuditServiceService,
  OperatorServiceService,
  SessionsServiceService,
  SignInServiceService,
  UsageServiceService,
  VerificationServiceService,
} from "@brand-records/proto/accounts/v1";
import type { Callers } from "@brand-records/rpc";

/** Who may call which method, beside the operator. docs/security.md has the table. */
export const VERIFICATION_CALLERS: Callers<VerificationServiceService> = { verifyKey: ["gateway"] };

export const ACCOUNTS_CALLERS: Callers<AccountsServiceService> = {
  getBrand: ["webhook"],
  listDeletedBrands: ["webhook"],
  addMember: ["console"],
  setMemberRole: ["console"],
  listMembers: ["console", "plans", "webhook"],
  removeMember: ["console"],
  createKey: ["console"],
  listKeys: ["console"],
  revokeKey: ["console"],
};

export const SIGN_IN_CALLERS: Callers<SignInServiceService> = {
  createSignInLink: ["console"],
  peekSignInLink: ["console"],
  redeemSignInLink: ["console"],
  signInWithIdentity: ["console"],
};

export const SESSIONS_CALLERS: Callers<SessionsServiceService> = {
  getSession: ["console"],
  endSession: ["console"],
  endSessionsOf: ["console"],
};

export const AUDIT_CALLERS: Callers<AuditServiceService> = { appendAudit: ["console"], finishAudit: ["console"], listAudit: ["console"] };

export const USAGE_CALLERS: Callers<UsageServiceService> = { recordUsage: ["gateway"], getUsage: ["console"] };

export const OPERATOR_CALLERS: Callers<OperatorServiceService> = { findBrand: ["console"] };
