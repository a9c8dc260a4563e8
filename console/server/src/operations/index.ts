import type { OperationName } from "@brand-records/console-contract";
import { deliveryStats, getDelivery, listDeliveries, replayDelivery } from "./deliveries.ts";
import { getEvent, listEvents } from "./events.ts";
import { createKey, listKeys, revokeKey } from "./keys.ts";
import { addMember, leaveBrand, linkMember, listMembers, removeMember, setMemberRole } from "./members.ts";
import type { Handler } from "./operation.ts";
import { getUsage, listAudit } from "./oversight.ts";
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
  updateReceiver,
} from "./receivers.ts";
import { cancelReplay, countReplay, latestReplay, startReplay } from "./replays.ts";
import { locate, me, signOut, signOutEverywhere } from "./session.ts";
import { peekLink, redeemLink, signInOptions } from "./sign-in.ts";

/** What implements each operation of the contract. */
export const HANDLERS: { readonly [Name in OperationName]: Handler<Name> } = {
  "sign_in.options": signInOptions,
  "sign_in.peek": peekLink,
  "sign_in.redeem": redeemLink,
  "session.me": me,
  "session.sign_out": signOut,
  "session.sign_out_everywhere": signOutEverywhere,
  "session.locate": locate,
  "keys.list": listKeys,
  "keys.create": createKey,
  "keys.revoke": revokeKey,
  "receivers.list": listReceivers,
  "receivers.get": getReceiver,
  "receivers.create": createReceiver,
  "receivers.update": updateReceiver,
  "receivers.enable": enableReceiver,
  "receivers.disable": disableReceiver,
  "receivers.delete": deleteReceiver,
  "receivers.rotate": rotateSecret,
  "receivers.activate": activateSecret,
  "receivers.test": sendTest,
  "deliveries.list": listDeliveries,
  "deliveries.get": getDelivery,
  "deliveries.stats": deliveryStats,
  "deliveries.replay": replayDelivery,
  "replays.count": countReplay,
  "replays.start": startReplay,
  "replays.latest": latestReplay,
  "replays.cancel": cancelReplay,
  "events.list": listEvents,
  "events.get": getEvent,
  "members.list": listMembers,
  "members.add": addMember,
  "members.set_role": setMemberRole,
  "members.remove": removeMember,
  "members.leave": leaveBrand,
  "members.link": linkMember,
  "audit.list": listAudit,
  "usage.get": getUsage,
  "plans.list": listPlans,
  "plans.get": getPlan,
  "plans.update": updatePlan,
  "plans.complete": completePlan,
  "plans.cancel": cancelPlan,
};
