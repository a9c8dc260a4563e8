import type { OperationName } from "@brand-records/console-contract";
import { deliveryStats, getDelivery, listDeliveries, replayDelivery } from "./deliveries.ts";
import { getEvent, listEvents } from "./events.ts";
import { createKey, listKeys, revokeKey } from "./keys.ts";
import { addMember, leaveBrand, linkMember, listMembers, removeMember, setMemberRole } from "./members.ts";
import { inBrand, ofPerson, ofVisitor, type ServedOperation } from "./operation.ts";
import { getUsage, listAudit, listFailedRequests, getOverview } from "./oversight.ts";
import { cancelPlan, completePlan, getPlan, listPlans, updatePlan } from "./plans.ts";
import {
  activateSecret,
  createReceiver,
  deleteReceiver,
  disableReceiver,
  enableReceiver,
  getReceiver,
  listReceivers,
  rotateSecret,
  sendTest,
  sendWaiting,
  updateReceiver,
} from "./receivers.ts";
import { cancelReplay, countReplay, latestReplay, startReplay } from "./replays.ts";
import { locate, me, signOut, signOutEverywhere, peekLink, redeemLink, signInOptions } from "./session.ts";

/** What implements each operation of the contract. */
export const SERVED: Readonly<Record<OperationName, ServedOperation>> = {
  "sign_in.options": ofVisitor("sign_in.options", signInOptions),
  "sign_in.peek": ofVisitor("sign_in.peek", peekLink),
  "sign_in.redeem": ofVisitor("sign_in.redeem", redeemLink),
  "session.me": ofPerson("session.me", me),
  "session.sign_out": ofVisitor("session.sign_out", signOut),
  "session.sign_out_everywhere": ofPerson("session.sign_out_everywhere", signOutEverywhere),
  "session.locate": ofPerson("session.locate", locate),
  "overview.get": inBrand("overview.get", getOverview),
  "keys.list": inBrand("keys.list", listKeys),
  "keys.create": inBrand("keys.create", createKey),
  "keys.revoke": inBrand("keys.revoke", revokeKey),
  "receivers.list": inBrand("receivers.list", listReceivers),
  "receivers.get": inBrand("receivers.get", getReceiver),
  "receivers.create": inBrand("receivers.create", createReceiver),
  "receivers.update": inBrand("receivers.update", updateReceiver),
  "receivers.enable": inBrand("receivers.enable", enableReceiver),
  "receivers.disable": inBrand("receivers.disable", disableReceiver),
  "receivers.delete": inBrand("receivers.delete", deleteReceiver),
  "receivers.rotate": inBrand("receivers.rotate", rotateSecret),
  "receivers.activate": inBrand("receivers.activate", activateSecret),
  "receivers.send_waiting": inBrand("receivers.send_waiting", sendWaiting),
  "receivers.test": inBrand("receivers.test", sendTest),
  "deliveries.list": inBrand("deliveries.list", listDeliveries),
  "deliveries.get": inBrand("deliveries.get", getDelivery),
  "deliveries.stats": inBrand("deliveries.stats", deliveryStats),
  "deliveries.replay": inBrand("deliveries.replay", replayDelivery),
  "replays.count": inBrand("replays.count", countReplay),
  "replays.start": inBrand("replays.start", startReplay),
  "replays.latest": inBrand("replays.latest", latestReplay),
  "replays.cancel": inBrand("replays.cancel", cancelReplay),
  "events.list": inBrand("events.list", listEvents),
  "events.get": inBrand("events.get", getEvent),
  "members.list": inBrand("members.list", listMembers),
  "members.add": inBrand("members.add", addMember),
  "members.set_role": inBrand("members.set_role", setMemberRole),
  "members.remove": inBrand("members.remove", removeMember),
  "members.leave": inBrand("members.leave", leaveBrand),
  "members.link": inBrand("members.link", linkMember),
  "audit.list": inBrand("audit.list", listAudit),
  "requests.failed": inBrand("requests.failed", listFailedRequests),
  "usage.get": inBrand("usage.get", getUsage),
  "plans.list": inBrand("plans.list", listPlans),
  "plans.get": inBrand("plans.get", getPlan),
  "plans.update": inBrand("plans.update", updatePlan),
  "plans.complete": inBrand("plans.complete", completePlan),
  "plans.cancel": inBrand("plans.cancel", cancelPlan),
};
