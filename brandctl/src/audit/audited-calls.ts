import type { AccountsClient, DeliveriesClient, EventsClient, ReceiversClient } from "../connection/clients.ts";
import { UNAUDITED, type AuditedCalls } from "./audited-client.ts";

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
