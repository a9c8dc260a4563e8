import {
  AccountsServiceService,
  AuditServiceService,
  OperatorServiceService,
  SessionsServiceService,
  SignInServiceService,
  UsageServiceService,
  VerificationServiceService,
} from "@brand-records/proto/accounts/v1";
import { service } from "@brand-records/rpc";
import type { AccountsDependencies } from "../dependencies.ts";
import { accountsHandlers } from "./accounts.ts";
import { auditHandlers } from "./audit.ts";
import { operatorHandlers } from "./operator.ts";
import { sessionsHandlers } from "./sessions.ts";
import { signInHandlers } from "./sign-in.ts";
import { usageHandlers } from "./usage.ts";
import { verificationHandlers } from "./verification.ts";

/** Returns every service that accounts serves. */
export const accountsServices = (deps: AccountsDependencies) => [
  service(VerificationServiceService, verificationHandlers(deps)),
  service(AccountsServiceService, accountsHandlers(deps)),
  service(OperatorServiceService, operatorHandlers(deps)),
  service(SignInServiceService, signInHandlers(deps)),
  service(SessionsServiceService, sessionsHandlers(deps)),
  service(AuditServiceService, auditHandlers(deps)),
  service(UsageServiceService, usageHandlers(deps)),
];
