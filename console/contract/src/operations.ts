import type * as accounts from "@brand-records/proto/messages/accounts";
import type * as plans from "@brand-records/proto/messages/plans";
import type * as webhook from "@brand-records/proto/messages/webhook";
import { z } from "zod";
import { anyone, DELIVERY_STATES, id, member, method, optional, PLAN_STATES, ROLES, session } from "./operation.ts";

const text = z.string();
const texts = z.array(text);
const yes = z.boolean();
const count = z.int32("must be a whole number below 2147483648");

/** 32 bytes in base64url. */
const token = text.regex(/^[A-Za-z0-9_-]{43}$/, "must be the token of a sign-in link");
/** The rule is that of accounts: what is no address is no subject of an audit entry. */
const email = z.email("must be an e-mail address").max(254, "must be at most 254 characters").toLowerCase();
const role = z.enum(ROLES, "must be owner or member");

const ofReceiver = { receiver_id: id("rcv") };
const settings = { url: text, label: text, events: texts };
const replayed = { ...ofReceiver, since: text, failed_only: yes, ...optional({ until: text }) };
const ofPlan = { plan_id: id("pln"), expected_revision: count.min(1) };
const range = { from: text, to: text };
const bars = { ...range, bucket_minutes: count.min(1).max(1_440) };
const listed = { ...range, page_token: text };
const words = { title: text, goal: text, campaign_type: text, planned_for: text, review_on: text, summary: text, brief: text, notes: text };
const changes = z.strictObject({ ...words, planning_budget_centavos: z.int(), requirements: texts, platforms: texts }).partial();

type WorkspacePlan = { plan: plans.Plan & Omit<plans.WorkspacePlan, "plan"> };

/**
 * Every call between the browser and the console's server: `POST /console/api/{operation}` with the input as JSON. What services say of
 * their methods and messages in `proto` holds for the operations that pass them on.
 */
export const OPERATIONS = {
  /** How people sign in here: with links, of which an owner's works for `link_hours`, and with which provider. */
  "sign_in.options": anyone().returns<{ links: boolean; link_hours: number; provider: string | null }>(),
  /** Whom a link signs in, and the one brand that it opens; null: every brand of the person. Uses nothing up. */
  "sign_in.peek": anyone({ token }).returns<accounts.PeekSignInLinkResponse>(),
  /** Uses the link up and sets the session's cookie. */
  "sign_in.redeem": anyone({ token }).returns<{ email: string }>(),
  "session.me": session().returns<{
    email: string;
    /** The provider that signed the person in; null after a sign-in link. */
    issuer: string | null;
    /** The session ends then at the latest. */
    ends_at: string;
    memberships: accounts.Membership[];
    /** The one brand that this session opens, after an owner's link; null: every brand of the person. */
    limited_to: string | null;
    environment: "live" | "test";
    /** Requests accepted in any minute, by tier. */
    rate_limits: { [tier: string]: number };
    /** What people type for `brand-records`; null where the operator has not said how it is installed. */
    command_line: string | null;
  }>(),
  /** Ends the session. Succeeds without one, too. `location` is where the browser goes next to sign out at the provider, if anywhere. */
  "session.sign_out": anyone().returns<{ location: string | null }>(),
  /** Ends all sessions of the person, and deletes the unused links; of a session that opens one brand alone, those that open it alone. */
  "session.sign_out_everywhere": session().returns<{ location: string | null }>(),
  /** Which of the person's brands has a record. */
  "session.locate": session({ id: id("key|rcv|dlv|evt|rpl|pln") }).returns<accounts.FindBrandResponse>(),

  /** Everything that the first page shows, so that it is there at once. */
  "overview.get": member().returns<{
    /** The first page of `keys.list`: with as many, the others change nothing about what is set up. */
    keys: accounts.Key[];
    receivers: webhook.Receiver[];
    /** Whether a receiver has ever accepted a delivery, as far as deliveries are kept. One that fails now has not lost it. */
    has_accepted: boolean;
    /** Requests of the last 24 hours, by hour from `from` on, the present quarter of an hour included; null if they could not be read. */
    usage: { from: string; buckets: accounts.UsageBucket[] } | null;
    /** Campaign plans that wait for a person; null if they could not be counted. */
    plans_pending: number | null;
  }>(),

  /** First those that are not revoked, the newest of each first. With `ids`, those of them that the brand has. */
  "keys.list": method("accounts.listKeys", optional({ ids: z.array(id("key")), page_token: text })),
  /** `may_prepare` adds `campaigns:prepare`. No other response has the secret. */
  "keys.create": member({ name: text, may_prepare: yes }).returns<accounts.CreateKeyResponse, "key">(),
  "keys.revoke": method("accounts.revokeKey", { key_id: id("key") }, "key"),

  "receivers.list": method("receivers.listReceivers"),
  "receivers.get": method("receivers.getReceiver", ofReceiver, "receiver"),
  "receivers.create": method("receivers.createReceiver", settings, "receiver"),
  // The service takes an empty list of events for no change.
  "receivers.update": method(
    "receivers.updateReceiver",
    { ...ofReceiver, ...optional({ ...settings, events: texts.min(1, "must name at least one event"), max_in_flight: count }) },
    "receiver",
  ),
  "receivers.enable": member({ ...ofReceiver, held: text }).returns<webhook.EnableReceiverResponse, "receiver">(),
  "receivers.disable": method("receivers.disableReceiver", ofReceiver, "receiver"),
  "receivers.delete": method("receivers.deleteReceiver", ofReceiver),
  "receivers.rotate": method("receivers.rotateSecret", { ...ofReceiver, replace: yes }, "receiver"),
  "receivers.activate": method("receivers.activateSecret", { ...ofReceiver, force: yes }, "receiver"),
  "receivers.send_waiting": method("receivers.sendWaiting", { ...ofReceiver, all: yes }, "receiver"),
  "receivers.test": method("receivers.sendTest", { ...ofReceiver, type: text, next: yes }),

  /** 50 a page, newest first. */
  "deliveries.list": method("deliveries.listDeliveries", {
    ...ofReceiver,
    ...optional({ ...range, states: z.array(z.enum(DELIVERY_STATES)), type: text, event_id: id("evt"), record_id: text }),
    ...optional({ status_class: z.enum(["2xx", "3xx", "4xx", "5xx", "none"]), after_id: id("dlv") }),
  }),
  "deliveries.get": method("deliveries.getDelivery", { delivery_id: id("dlv") }, "delivery"),
  "deliveries.stats": method("deliveries.getDeliveryStats", { ...ofReceiver, ...range }, "total"),
  /** `pending_only`: the page shows it as waiting, so a delivery that has finished since is not sent once more. */
  "deliveries.replay": method("deliveries.replayDelivery", { delivery_id: id("dlv"), ...optional({ pending_only: yes }) }, "delivery"),
  /** How many events `replays.start` would queue. */
  "replays.count": method("deliveries.countReplay", replayed),
  "replays.start": method("deliveries.replayEvents", replayed, "replay"),
  /** The receiver's replay in progress, else its last one. */
  "replays.latest": method("deliveries.getLatestReplay", ofReceiver),
  "replays.cancel": method("deliveries.cancelReplay", { replay_id: id("rpl") }, "replay"),

  /** 50 a page, newest first, with counts of their receivers. */
  "events.list": member(optional({ ...listed, type: text, record_id: text })).returns<webhook.ListEventsResponse>(),
  "events.get": method("events.getEvent", { event_id: id("evt") }, "event"),

  "members.list": method("accounts.listMembers", optional({ page_token: text })),
  /** Error `already_exists` for a member, whose role stays as it is. No mail is sent. */
  "members.add": member({ email, role }).returns<accounts.AddMemberResponse, "member">(),
  "members.set_role": method("accounts.setMemberRole", { email, role }, "member"),
  "members.remove": method("accounts.removeMember", { email }),
  /** Removes the caller's own membership. */
  "members.leave": member().returns<{}>(),
  /** A link that signs another member in, once, and opens this brand alone. No other response has it. */
  "members.link": member({ email }).returns<{ url: string; expires_at: string }>(),

  /** What the caller, an owner, gets mail of. */
  "mail.get": method("accounts.getMailSettings"),
  "mail.set": method("accounts.setMailSettings", optional({ receivers: yes, plans_and_keys: yes })),

  /** Who changed what, newest first, 50 a page. `actor` selects what was done through links of the person, too; `action: "session"` sign-ins. */
  "audit.list": method("audit.listAudit", optional({ ...listed, actor: text, action: text })),
  /** The last 1,000 of 24 hours, 50 a page, newest first. */
  "requests.list": method(
    "usage.listRequests",
    optional({ key_id: id("key"), route: text, status: text, request_id: text, page_token: text }),
  ),
  "requests.failed": method("usage.listFailedRequests", {
    ...bars,
    ...optional({ key_id: id("key"), route: text, code: text, field: text }),
  }),
  /** Counts of requests. `clients` is empty unless `by_key`. */
  "usage.get": member({ ...bars, by_key: yes }).returns<accounts.GetUsageResponse>(),

  "plans.list": method("plans.listPlanSummaries", optional({ status: z.enum(PLAN_STATES), after_id: id("pln") })),
  "plans.get": member({ plan_id: ofPlan.plan_id }).returns<WorkspacePlan>(),
  "plans.update": member({ ...ofPlan, changes }).returns<WorkspacePlan>(),
  "plans.complete": member({ ...ofPlan, confirmed_pay: yes, confirmed_rights: yes, confirmed_funding: yes }).returns<WorkspacePlan>(),
  "plans.cancel": member(ofPlan).returns<WorkspacePlan>(),
};
