/** A page of the console. The server writes its heading into the first HTML, and tells the browser which scripts it needs. */
export interface ConsolePage {
  /** Segments that begin with `$` are ids. */
  readonly path: string;
  /** The screen's file below web/src/screens, without its extension. */
  readonly screen: string;
  /** The heading; of a record's page until the record is there. */
  readonly title: string;
  readonly description?: string;
}

export const PAGES = {
  signIn: { path: "/sign-in", screen: "sign-in/sign-in", title: "Sign in to Brand Records" },
  overview: {
    path: "/developers",
    screen: "overview/overview",
    title: "Overview",
    description:
      "Connect your own systems to this brand’s records: keys that read them, receivers that get signed events, and assistants that prepare campaign plans.",
  },
  keys: {
    path: "/developers/keys",
    screen: "keys/keys",
    title: "API keys",
    description:
      "A key lets one integration read this brand’s records. Give each integration its own, so that you can replace one without touching the others.",
  },
  receivers: {
    path: "/developers/receivers",
    screen: "receivers/receivers",
    title: "Receivers",
    description:
      "Addresses of yours that get a signed event when a submission is approved or rejected, a payout is paid, or a campaign is settled.",
  },
  newReceiver: { path: "/developers/receivers/new", screen: "receivers/new-receiver", title: "Register a receiver" },
  receiver: { path: "/developers/receivers/$id", screen: "receivers/receiver", title: "Receiver" },
  replay: { path: "/developers/receivers/$id/replay", screen: "receivers/replay/replay", title: "Receiver" },
  receiverSettings: { path: "/developers/receivers/$id/settings", screen: "receivers/settings", title: "Receiver" },
  delivery: { path: "/developers/deliveries/$id", screen: "deliveries/delivery", title: "Delivery" },
  events: {
    path: "/developers/events",
    screen: "events/events",
    title: "Events",
    description:
      "What has happened to this brand’s records, newest first, whether a receiver selected it or not. Events are kept for 30 days. Tests are not listed: they show on their receiver’s page.",
  },
  event: { path: "/developers/events/$id", screen: "events/event", title: "Event" },
  usage: {
    path: "/developers/usage",
    screen: "usage/usage",
    title: "Usage",
    description:
      "Requests to the API and by assistants, by key and by the minute, kept for 31 days: how many were accepted, and how many were refused because the limit that all of the brand’s keys share was used up.",
  },
  requests: {
    path: "/developers/requests",
    screen: "requests/requests",
    title: "Requests",
    description:
      "The last 1,000 requests to the API and by assistants, for a day. Those without a valid key belong to no brand. What a request held is not kept: your own log has it under the request id.",
  },
  failedRequests: {
    path: "/developers/requests/failed",
    screen: "requests/failed-requests",
    title: "Failed requests",
    description: "How many requests were refused or failed, and how, for seven days.",
  },
  audit: {
    path: "/developers/audit",
    screen: "audit/audit",
    title: "Audit log",
    description:
      "Every change to this brand’s keys, receivers, deliveries, plans and members, and every sign-in: who made it, and how it ended. Entries are kept for two years and cannot be changed. Only the address of a person who is erased becomes a pseudonym.",
  },
  members: {
    path: "/developers/members",
    screen: "members/members",
    title: "Members",
    description: "Owners manage keys, receivers and members. Members see them, and work on campaign plans.",
  },
  mail: {
    path: "/developers/mail",
    screen: "mail/mail",
    title: "Mail",
    description:
      "What you, as an owner, get mail of: of each receiver, of plans and of keys at most one an hour, with links to what it is about.",
  },
  assistants: {
    path: "/developers/assistants",
    screen: "assistants/assistants",
    title: "Assistants",
    description:
      "Let an AI assistant read this brand’s records, and prepare campaign plans that your team completes, through the Model Context Protocol. It can do what its key may do, and nothing else.",
  },
  plans: {
    path: "/workspaces",
    screen: "plans/list/plan-list",
    title: "Campaign plans",
    description:
      "What your integrations have prepared. People of your brand edit, complete or cancel each plan here. Nothing is published, funded or paid by it.",
  },
  plan: { path: "/workspaces/$type/plans/$id", screen: "plans/plan", title: "Campaign plan" },
} as const satisfies Record<string, ConsolePage>;

export type PageName = keyof typeof PAGES;

/** Returns the page at a path and the record that it names; undefined if the console has none there. */
export function pageAt(path: string): { readonly name: PageName; readonly id: string | undefined } | undefined {
  const segments = path.split("/");
  for (const [name, page] of Object.entries(PAGES)) {
    const parts = page.path.split("/");
    if (parts.length !== segments.length) continue;
    if (!parts.every((part, index) => (part.startsWith("$") ? segments[index] !== "" : part === segments[index]))) continue;
    return { name: name as PageName, id: parts.includes("$id") ? segments[parts.indexOf("$id")] : undefined };
  }
  return undefined;
}
