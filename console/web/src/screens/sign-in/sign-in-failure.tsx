import type { SignInFailure } from "@brand-records/console-contract";
import { Anchor, Text } from "@mantine/core";
import styles from "../../parts/states.module.css";
import { RequestId } from "../../parts/states.tsx";

/** What happened, and what to do. */
const EXPLANATIONS: Readonly<Record<SignInFailure, readonly [title: string, text: string]>> = {
  provider_unreachable: [
    "The sign-in provider did not respond",
    "Wait a minute, then try again. If it still does not respond, tell the operator of this service.",
  ],
  provider_error: [
    "The sign-in provider reported an error",
    "Try again. If it fails again, give the operator of this service the request id.",
  ],
  access_denied: [
    "The sign-in was cancelled",
    "You cancelled it, or your provider does not let you into this service. Try again, or ask who manages your account there.",
  ],
  attempt_expired: ["The sign-in took too long", "It must be finished within 10 minutes. Sign in again."],
  attempt_unknown: [
    "This sign-in cannot be finished",
    "It was finished already, or it began in another browser. Sign in again, in this browser and with cookies allowed.",
  ],
  invalid_response: [
    "The provider’s response could not be verified",
    "Nothing has changed. Sign in again. If it fails again, give the operator of this service the request id.",
  ],
  email_not_verified: [
    "Your e-mail address is not verified",
    "Your sign-in provider has not verified it. Verify it there, then sign in again.",
  ],
  no_membership: [
    "You are not a member of a brand",
    "The e-mail address of this account is not a member of any brand. Ask an owner of your brand to add it, or sign in with another account.",
  ],
  identity_conflict: [
    "Another account belongs to this address",
    "You have signed in with another account of this provider before. Use that one, or ask the operator of this service to unlink it.",
  ],
  rate_limited: ["Too many attempts to sign in", "Wait a minute, then try again."],
  unavailable: [
    "Signing in does not work at the moment",
    "Wait a minute, then try again. If it fails again, give the operator of this service the request id.",
  ],
};

export interface Failure {
  readonly error: SignInFailure;
  readonly request_id?: string;
}

/** Reads a failure from the page's address, which may be anyone's link: no text of it is shown but a request id. */
export function failureOf({ error, request_id }: { readonly error?: string; readonly request_id?: string }): Failure | undefined {
  if (error === undefined || !Object.hasOwn(EXPLANATIONS, error)) return undefined;
  return { error: error as SignInFailure, ...(request_id !== undefined && /^[\w.:-]{1,128}$/.test(request_id) && { request_id }) };
}

export function SignInFailed({ failure: { error, request_id } }: { readonly failure: Failure }) {
  const [title, text] = EXPLANATIONS[error];
  return (
    <div className={styles["error"]} data-tone="bad" role="alert">
      <Text fw={600}>{title}</Text>
      <Text size="sm">{text}</Text>
      {error === "attempt_unknown" && <Anchor href="/developers">Continue if you are signed in</Anchor>}
      {request_id !== undefined && <RequestId id={request_id} />}
    </div>
  );
}
