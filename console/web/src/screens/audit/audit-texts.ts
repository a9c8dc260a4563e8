import type { AuditAction } from "@brand-records/console-contract";

/** What was done, or tried, in words. */
export const ACTIONS: Readonly<Record<AuditAction, string>> = {
  "key.create": "Create an API key",
  "key.revoke": "Revoke an API key",
  "receiver.create": "Register a receiver",
  "receiver.update": "Change a receiver",
  "receiver.enable": "Enable a receiver",
  "receiver.disable": "Disable a receiver",
  "receiver.delete": "Delete a receiver",
  "receiver.rotate_secret": "Make a new signing secret",
  "receiver.activate_secret": "Activate the new signing secret",
  "receiver.test": "Send a test",
  "receiver.send_waiting": "Send what waits now",
  "receiver.replay": "Send earlier events again",
  "replay.cancel": "Stop sending earlier events",
  "delivery.replay": "Send a delivery again",
  "plan.update": "Edit a campaign plan",
  "plan.complete": "Complete a campaign plan",
  "plan.cancel": "Cancel a campaign plan",
  "member.add": "Add a member",
  "member.set_role": "Change a member’s role",
  "member.remove": "Remove a member",
  "member.leave": "Leave the brand",
  "member.set_mail": "Change what to get mail of",
  "person.erase": "Erase a person who has left",
  "session.sign_in_with_link": "Sign in with a link",
  "session.sign_in_with_provider": "Sign in with the provider",
  "session.sign_out": "Sign out",
  "session.sign_out_everywhere": "Sign out everywhere",
  "sign_in_link.create": "Make a sign-in link",
  "identity.unlink": "Unlink a person’s sign-in account",
  "brand.create": "Create the brand",
  "brand.delete": "Delete the brand",
  "brand.set_tier": "Change the plan",
  "brand.set_verified": "Change the verification",
  "brand.set_cell": "Move the records to another database",
  "brand.begin_move": "Begin to move the records to another database",
  "brand.abort_move": "Leave the records in their database",
};

/** Actions of one kind, by the first of their two names. */
export const KINDS: Readonly<Record<string, string>> = { session: "Sign-ins, sign-outs" };

/** Fields whose name is not their text with underscores. */
const FIELDS: Readonly<Record<string, string>> = {
  url: "URL",
  max_in_flight: "deliveries in flight",
  held: "held deliveries",
  since: "start",
  until: "end",
  failed_only: "failed ones only",
  planning_budget_centavos: "budget",
  tier: "plan",
  verified: "verification",
};

/** Errors whose name does not explain itself. */
const REASONS: Readonly<Record<string, string>> = {
  invalid_request: "the input was refused",
  not_found: "it did not exist",
  already_exists: "it existed already",
  request_conflict: "another one was in progress",
  owner_required: "only an owner may do this",
  key_limit: "the brand had as many keys as it may have",
  member_limit: "the brand had as many members as it may have",
  plan_required: "the brand’s plan does not include it",
  brand_not_verified: "the brand is not verified",
  not_https: "the URL was not https",
  private_address: "the URL’s host was not public",
  chat_webhook: "the URL was a chat’s incoming webhook",
  duplicate_url: "another receiver has this URL",
  receiver_limit: "the brand had 20 receivers",
  receiver_disabled: "the receiver was disabled",
  no_next_secret: "there was no new secret",
  next_secret_not_accepted: "no test with the new secret was accepted",
  plan_changed: "someone else changed it meanwhile",
  plan_not_pending: "it was completed or cancelled",
  last_owner: "a brand needs an owner",
  sign_in_link_used: "the link was used before",
  sign_in_link_expired: "the link had expired",
  identity_conflict: "another account of the provider belongs to this address",
  unavailable: "a service could not be reached",
  timeout: "no response in time",
  internal_error: "an internal error",
  interrupted: "it was interrupted",
};

const spaced = (name: string): string => name.replaceAll("_", " ");

const isKnown = (action: string): action is AuditAction => Object.hasOwn(ACTIONS, action);

/** An action in words; its name if it is of a later release. */
export const actionText = (action: string): string => (isKnown(action) ? ACTIONS[action] : action);
export const fieldsText = (fields: readonly string[]): string => fields.map((field) => FIELDS[field] ?? spaced(field)).join(", ");
export const reasonText = (errorKind: string): string => REASONS[errorKind] ?? spaced(errorKind);
