import type { Page } from "playwright-core";
import type { Filled, People } from "./fill-brands.ts";
import {
  changing,
  failing,
  hanging,
  longBrandName,
  openFind,
  openNavigation,
  otherPersonSignsIn,
  press,
  pressInDialog,
  removedFromBrand,
  replaying,
  returnUntil,
} from "./page-states.ts";

/** One picture: a page as a person sees it. */
export interface Shot {
  /** Names the file. */
  readonly name: string;
  /** undefined: without a session. */
  readonly as: keyof People | undefined;
  path(filled: Filled): string;
  /** What is visible once the page is complete. */
  readonly shown: string;
  /** What the person does then, such as opening a dialog. */
  act?(page: Page): Promise<void>;
  /** docs/images has one wide screen of it: the top, or where this text is. */
  readonly documented?: true | string;
  /** Done before the page is opened, such as a failure to provoke. */
  before?(page: Page): Promise<unknown>;
}

/** @param shots by their names, each with what differs from the others on this page. Default: the owner, who does nothing */
const on = (path: string | Shot["path"], shown: string, shots: Readonly<Record<string, Partial<Omit<Shot, "name">>>>): Shot[] =>
  Object.entries(shots).map(([name, shot]) => ({
    name,
    as: "owner",
    path: typeof path === "string" ? () => path : path,
    shown,
    ...shot,
  }));

const receiver =
  (name: keyof Filled["receivers"], page = "") =>
  ({ receivers }: Filled): string =>
    `/developers/receivers/${receivers[name]}${page}`;
const plan =
  (name: keyof Filled["plans"], step = "") =>
  ({ plans }: Filled): string =>
    `${plans[name]}${step}`;
const delivery = ({ deliveryId }: Filled): string => `/developers/deliveries/${deliveryId}`;

/** Presses a button, and waits for what it shows. */
const pressUntil =
  (button: string, shown: string) =>
  async (page: Page): Promise<void> => {
    await press(button)(page);
    await page.getByText(shown).first().waitFor();
  };

/** Adds a member by an address. */
const addMember =
  (address: string, shown: string) =>
  async (page: Page): Promise<void> => {
    await pressInDialog("Add member")(page);
    await page.getByRole("dialog").getByLabel("E-mail address").fill(address);
    await pressUntil("Add member", shown)(page);
  };

const fill = (page: Page, name: string, text: string): Promise<void> => page.getByRole("textbox", { name }).fill(text);

const newcomer = { as: "newcomer" } as const;
const member = { as: "member" } as const;
const ineligible = { as: "ineligible" } as const;
const signedOut = { as: undefined };

/** Every screen and state of the console. */
export const SHOTS: readonly Shot[] = [
  ...on("/sign-in", "Each works once", {
    "sign-in": signedOut,
    "sign-in-failing": { ...signedOut, shown: "Try again", before: failing("sign_in.options") },
  }),
  ...on(`/sign-in#${"A".repeat(43)}`, "not known", { "sign-in-unknown-link": signedOut }),
  ...on("/nope", "Page not found", { "no-such-page": signedOut }),
  ...on("/docs/api", "Using the API", { "guide-api": signedOut }),
  ...on("/docs/errors", "Errors", { "guide-errors": signedOut }),
  ...on("/docs/webhooks", "Receiving events", { "guide-webhooks": signedOut }),
  ...on("/docs/python", "brand-records for Python", { "guide-python": signedOut }),

  ...on("/developers", "Requests per hour", {
    overview: { documented: true },
    "overview-set-up": { act: (page) => page.getByText("Set-up complete").click() },
    "overview-member": member,
    "overview-new": { ...newcomer, shown: "Have a test delivery accepted" },
    "overview-ineligible": { ...ineligible, shown: "Have a test delivery accepted" },
    "overview-two-brands": { as: "agency", shown: "Refused over the limit" },
    "overview-loading": { shown: "Overview", before: hanging("overview.get") },
    "overview-failing": { shown: "Try again", before: failing("overview.get") },
    "account-menu": {
      async act(page) {
        await page.getByRole("banner").getByRole("button").last().click();
        await page.getByText("Sign out everywhere").waitFor();
      },
    },
  }),

  ...on("/developers/keys", "Looker report", {
    keys: { documented: true },
    "keys-revoked": { act: (page) => page.getByText("1 revoked key").click() },
    "keys-member": member,
    "key-revoke": { act: pressInDialog("Revoke Looker report", "Revoke key") },
    failing: { shown: "Try again", before: failing("session.me") },
    navigation: { act: openNavigation },
    // The heading is in the HTML, before anything listens to keys.
    find: { as: "agency", shown: "Monthly report", act: (page) => openFind(page, "") },
    "find-an-id": { act: (page) => openFind(page, "sub_01h455vb4pex5vsknk084sn02q") },
    "find-nothing": { act: (page) => openFind(page, "zebra") },
  }),
  ...on("/developers/keys", "No keys yet", {
    "keys-empty": newcomer,
    "keys-ineligible": ineligible,
    "key-create": { ...newcomer, act: pressInDialog("Create key") },
    "key-create-long-name": { ...newcomer, before: longBrandName, act: pressInDialog("Create key") },
    "key-create-refused": { ...newcomer, act: pressInDialog("Create key", "Create key") },
    "long-brand-name": { ...newcomer, before: longBrandName },
    "left-brand": { as: "agency", shown: "Create key", before: removedFromBrand, act: returnUntil("You are no longer a member") },
    "other-person": { ...newcomer, before: otherPersonSignsIn, act: returnUntil("is signed in now") },
    "key-secret": {
      as: "agency",
      shown: "API keys",
      async act(page) {
        // A narrow screen has the choice in its folded navigation.
        await openNavigation(page);
        await page.getByLabel("Brand", { exact: true }).first().selectOption({ label: "Lakad Lokal" });
        await openNavigation(page);
        await press("Create key")(page);
        await fill(page, "Name", `Claude for the campaign team ${Date.now()}`);
        await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
        await page.getByText("This is the only time the key is shown").waitFor();
      },
    },
  }),

  ...on("/developers/receivers", "5 of 20 receivers", { receivers: {}, "receivers-member": member }),
  ...on("/developers/receivers", "No receivers yet", { "receivers-empty": newcomer, "receivers-ineligible": ineligible }),
  ...on("/developers/receivers/new", "A payout was paid", {
    "receiver-new": newcomer,
    "receiver-new-member": { ...member, shown: "receiver" },
    "receiver-new-refused": {
      ...newcomer,
      async act(page) {
        await fill(page, "URL", "http://hooks.example/events");
        await press("Register receiver")(page);
        await page.getByRole("textbox", { name: "Label" }).and(page.locator("[aria-invalid=true]")).waitFor();
      },
    },
    "receiver-new-chat": {
      ...newcomer,
      async act(page) {
        await fill(page, "URL", "https://hooks.slack.com/services/T000/B000/xyz");
        await fill(page, "Label", "Team chat");
        await page.getByRole("checkbox").first().check();
        await pressUntil("Register receiver", "relay")(page);
      },
    },
  }),
  ...on(receiver("healthy"), "submission.rejected", {
    receiver: {},
    "receiver-member": member,
    "receiver-test": { act: pressInDialog("Send test") },
  }),
  ...on(receiver("failing"), "Retrying", { "receiver-failing": { documented: true } }),
  ...on(receiver("paused"), "is paused until", { "receiver-paused": {} }),
  ...on(receiver("disabled"), "410 Gone", { "receiver-disabled": {}, "receiver-enable": { act: pressInDialog("Enable") } }),
  ...on(receiver("healthy", "/settings"), "Signing secret", {
    "receiver-settings": {},
    "receiver-settings-member": { ...member, shown: "Settings of" },
    "receiver-disable": { act: pressInDialog("Disable") },
    "receiver-delete": { act: pressInDialog("Delete receiver") },
    "receiver-next-secret": { path: receiver("failing", "/settings"), act: pressInDialog(/(Make|Replace) the next secret/) },
  }),
  ...on(receiver("healthy", "/replay"), "Replay to", {
    "receiver-replay": {},
    "receiver-replaying": { shown: "Cancel replay", before: replaying },
  }),
  ...on(delivery, "Attempt 4", {
    delivery: { documented: true },
    "delivery-own": { act: (page) => page.getByText("Send this event to a machine").click() },
    "delivery-again": { act: pressUntil("Send again", "Sent again from") },
  }),
  ...on(({ failedDeliveryId }) => `/developers/deliveries/${failedDeliveryId}`, "Attempt 1", { "delivery-retrying": {} }),

  ...on("/developers/events", "submission.rejected", {
    events: {},
    "events-empty": { ...newcomer, shown: "No events" },
    "event-filter-wrong": {
      async act(page) {
        await fill(page, "Record id", "PO 1");
        await page.getByRole("textbox", { name: "Record id" }).press("Enter");
        await page.getByText("as before").waitFor();
      },
    },
  }),
  ...on("/developers/events/evt_unknown", "An event is kept for 30 days", { "event-gone": {} }),
  ...on(({ eventId }) => `/developers/events/${eventId}`, "Ledger sync", { event: {} }),
  ...on("/developers/usage", "Looker report", { usage: {}, "usage-empty": { ...newcomer, shown: "No requests" } }),
  ...on("/developers/requests", "rate_limited", {
    requests: {},
    "requests-empty": { ...newcomer, shown: "No requests in the last" },
  }),
  ...on("/developers/requests?id=order-sync-4711", "invalid_parameter", { "requests-of-an-id": {} }),
  ...on("/developers/requests/failed", "rate_limited", {
    "failed-requests": {},
    "failed-requests-of-one-group": {
      async act(page) {
        await page.getByRole("link", { name: "invalid_parameter" }).first().click();
        await page.getByText("Clear filters").waitFor();
        await page
          .getByText(/request ids?$/)
          .first()
          .click();
      },
    },
    "failed-requests-empty": { ...newcomer, shown: "No failed requests in the last" },
    "failed-requests-failing": { shown: "Try again", before: failing("requests.failed") },
  }),

  ...on("/developers/mail", "Plans and keys", {
    mail: {},
    "mail-member": { ...member, shown: "Only owners" },
    "mail-failing": { shown: "Try again", before: failing("mail.get") },
  }),
  ...on("/developers/members", "Change role", {
    members: { documented: true },
    "members-member": { ...member, shown: "add and remove members" },
    "members-failing": { shown: "Try again", before: failing("members.list") },
    "members-loading": { shown: "Add member", before: hanging("members.list") },
    "member-add": { act: pressInDialog("Add member") },
    "member-add-refused": { act: addMember("maria@ulap-at-araw.example", "already") },
    "member-invited": { act: (page) => addMember(`lia+${Date.now()}@ulap-at-araw.example`, "is a member now")(page) },
    "member-link": {
      async act(page) {
        await pressInDialog(/^New link: jun/, "Make link")(page);
        await page.getByText("This is the only time the link is shown").waitFor();
      },
    },
    "member-role": { act: pressInDialog(/^Change role: jun/) },
    "member-remove": { act: pressInDialog(/^Remove: jun/) },
    "member-leave-refused": { ...newcomer, shown: "Leave", act: pressUntil("Leave", "without an owner") },
  }),
  ...on("/developers/audit", "maria@ulap-at-araw.example", {
    audit: {},
    "audit-member": { ...member, shown: "Only owners see the audit log" },
  }),
  ...on("/developers/audit?action=session", "Sign in with a link", { "audit-sign-ins": {} }),
  ...on("/developers/assistants", "claude mcp add", { assistants: {} }),
  ...on("/developers/assistants?client=typescript", "callTool", { "assistants-typescript": {} }),
  ...on("/developers/assistants?client=vscode", "promptString", { "assistants-member": member }),
  ...on("/developers/assistants?client=others", "mcp-remote", { "assistants-ineligible": ineligible }),
  ...on("/developers/nowhere", "Nothing is here", { "not-found": {} }),
  ...on("/developers/deliveries/dlv_unknown", "Nothing is here", { "unknown-delivery": {} }),

  ...on("/workspaces", "2 of 200 pending", { plans: {}, "plans-empty": { ...newcomer, shown: "No plans are waiting" } }),
  ...on("/workspaces?status=all", "Valentine’s package", { "plans-all": member }),
  ...on(plan("pending"), "Save and continue", {
    "plan-basics": {},
    "plan-refused": {
      async act(page) {
        await fill(page, "Title", "");
        await page.getByLabel("Planned for").fill("");
        await pressUntil("Save and continue", "2 things need your attention")(page);
      },
    },
    "plan-conflict": {
      documented: true,
      before: changing,
      async act(page) {
        await fill(page, "Title", "Ulan, araw: skincare clips");
        await fill(page, "Goal", "600,000 views before Christmas");
        await pressUntil("Save and continue", "Choose what to keep")(page);
      },
    },
    "plan-cancel": { act: pressInDialog("Cancel plan") },
  }),
  ...on(plan("pending", "?step=budget"), "A figure to plan with", { "plan-budget": {} }),
  ...on(plan("pending", "?step=creative"), "Add a platform", { "plan-creative": {} }),
  ...on(plan("pending", "?step=notes"), "Only your team sees these.", { "plan-notes": {} }),
  ...on(plan("pending", "?step=review"), "Complete plan", {
    "plan-review": { documented: "Complete plan" },
    "plan-unconfirmed": { act: press("Complete plan") },
  }),
  ...on(plan("completed"), "Nothing was published", { "plan-completed": member }),
  ...on(plan("cancelled"), "Nothing was published", { "plan-cancelled": {} }),
];
