import type { AuditLog } from "./audit-log.ts";
import type { AccountsClient, DeliveriesClient, EventsClient, ReceiversClient } from "../connection/clients.ts";

/** A call without an entry: it reads, or what it changes belongs to no single brand. */
const UNAUDITED = "unaudited";

/** How a changing call is written into the audit log. */
interface AuditedCall<Request, Response> {
  /** Such as `key.create`. */
  readonly action: string;
  readonly brand: (request: Request) => string | null | undefined;
  /** What is changed. */
  readonly subject?: (request: Request) => string;
  /** What was created. */
  readonly created?: (response: Response) => string | undefined;
  /** Fields of the request that the change sets, if they are given. Only their names are written. */
  readonly fields: readonly (keyof Request & string)[];
  /** The role that a member gets. */
  readonly role?: (request: Request) => string;
}

/** Every method of a client. The compiler names a method of the protocol that is missing here. */
export type AuditedCalls<Client> = {
  readonly [Name in Exclude<keyof Client, "stop">]: Client[Name] extends (
    request: infer Request,
    requestId?: string,
  ) => Promise<infer Response>
    ? typeof UNAUDITED | AuditedCall<Request, Response>
    : never;
};

type Call = (request: Record<string, unknown>, requestId?: string) => Promise<unknown>;

/** Returns a client whose changing calls write into the audit log, so that no command can forget it. */
export function auditedClient<Client extends { stop(): void }>(client: Client, calls: AuditedCalls<Client>, log: AuditLog): Client {
  const audited: Record<string, unknown> = { ...client };
  for (const [name, audit] of Object.entries(calls) as [string, typeof UNAUDITED | AuditedCall<Record<string, unknown>, unknown>][]) {
    if (audit === UNAUDITED) continue;
    const call = audited[name] as Call;
    audited[name] = (request: Record<string, unknown>): Promise<unknown> => {
      const subject = audit.subject?.(request);
      const change = {
        brand_id: audit.brand(request) ?? "",
        action: audit.action,
        // What cannot be an id or an address is refused by the service, with a better message.
        ...(subject !== undefined && /^[^\s\p{Cc}]{1,254}$/u.test(subject) && { subject_id: subject }),
        fields: audit.fields.filter((field) => isGiven(request[field])),
        ...(audit.role !== undefined && { role: audit.role(request) }),
      };
      return log.around(change, (requestId) => call(request, requestId), audit.created);
    };
  }
  return audited as Client;
}

const isGiven = (value: unknown): boolean => value != null && !(Array.isArray(value) && value.length === 0);

const brand = ({ brand_id }: { readonly brand_id: string }): string => brand_id;
const receiver = ({ receiver_id }: { readonly receiver_id: string }): string => receiver_id;
const role = (member: { readonly role: string }): string => member.role;
const email = (member: { readonly email: string }): string => member.email;

// Plans have no table here, because brandctl only reads them; records have none, because brandctl writes them as the platform does; and
// sign-in links, people's data and the deletion of a brand have none, because accounts writes their entries itself.

export const ACCOUNTS_CALLS: AuditedCalls<AccountsClient> = {
  createBrand: { action: "brand.create", brand: ({ id }) => id, subject: ({ id }) => id ?? "", fields: ["name", "tier", "verified"] },
  getBrand: UNAUDITED,
  listBrands: UNAUDITED,
  listDeletedBrands: UNAUDITED,
  setBrandTier: { action: "brand.set_tier", brand, subject: brand, fields: ["tier"] },
  setBrandVerified: { action: "brand.set_verified", brand, subject: brand, fields: ["verified"] },
  addMember: { action: "member.add", brand, subject: email, fields: ["role"], role },
  setMemberRole: { action: "member.set_role", brand, subject: email, fields: ["role"], role },
  listMembers: UNAUDITED,
  removeMember: { action: "member.remove", brand, subject: email, fields: [] },
  listMemberships: UNAUDITED,
  createKey: { action: "key.create", brand, created: ({ key }) => key?.id, fields: ["name", "environment", "permissions"] },
  listKeys: UNAUDITED,
  revokeKey: { action: "key.revoke", brand: ({ brand_id }) => brand_id, subject: ({ key_id }) => key_id, fields: [] },
};

export const RECEIVERS_CALLS: AuditedCalls<ReceiversClient> = {
  createReceiver: { action: "receiver.create", brand, created: ({ receiver }) => receiver?.id, fields: ["url", "label", "events"] },
  getReceiver: UNAUDITED,
  listReceivers: UNAUDITED,
  updateReceiver: { action: "receiver.update", brand, subject: receiver, fields: ["url", "label", "events", "max_in_flight"] },
  enableReceiver: { action: "receiver.enable", brand, subject: receiver, fields: ["held"] },
  disableReceiver: { action: "receiver.disable", brand, subject: receiver, fields: [] },
  deleteReceiver: { action: "receiver.delete", brand, subject: receiver, fields: [] },
  rotateSecret: { action: "receiver.rotate_secret", brand, subject: receiver, fields: [] },
  activateSecret: { action: "receiver.activate_secret", brand, subject: receiver, fields: [] },
  sendWaiting: { action: "receiver.send_waiting", brand, subject: receiver, fields: ["all"] },
  sendTest: { action: "receiver.test", brand, subject: receiver, fields: ["type"] },
};

export const DELIVERIES_CALLS: AuditedCalls<DeliveriesClient> = {
  listDeliveries: UNAUDITED,
  getDelivery: UNAUDITED,
  replayDelivery: { action: "delivery.replay", brand, subject: ({ delivery_id }) => delivery_id, fields: [] },
  replayEvents: { action: "receiver.replay", brand, subject: receiver, fields: ["since"] },
  getReplay: UNAUDITED,
  getDeliveryStats: UNAUDITED,
  countReplay: UNAUDITED,
  getLatestReplay: UNAUDITED,
  cancelReplay: { action: "replay.cancel", brand, subject: ({ replay_id }) => replay_id, fields: [] },
};

export const EVENTS_CALLS: AuditedCalls<EventsClient> = {
  getEvent: UNAUDITED,
  listEvents: UNAUDITED,
  listDeadLetters: UNAUDITED,
  // It concerns all brands, and entries belong to one.
  replayDeadLetters: UNAUDITED,
};
