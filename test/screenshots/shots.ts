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
  readonly as?: keyof People;
  path(filled: Filled): string;
  /** What is visible once the page is complete. */
  readonly shown: string | RegExp;
  /** What the person does then, such as opening a dialog. */
  act?(page: Page): Promise<void>;
  /** docs/images has one wide screen of it: the top, or where this text is. */
  readonly documented?: true | string;
  /** Done before the page is opened, such as a failure to provoke. */
  before?(page: Page): Promise<unknown>;
}

const to = (path: string) => (): string => path;

/** Every screen and state of the console. */
export const SHOTS: readonly Shot[] = [
  { name: "sign-in", path: to("/sign-in"), shown: "Each works once" },
  { name: "sign-in-failing", path: to("/sign-in"), shown: "Try again", before: failing("sign_in.options") },
  { name: "sign-in-unknown-link", path: to(`/sign-in#${"A".repeat(43)}`), shown: "not known" },

  { name: "overview", as: "owner", path: to("/developers"), shown: "Requests an hour", documented: true },
  {
    name: "overview-set-up",
    as: "owner",
    path: to("/developers"),
    shown: "Requests an hour",
    act: (page) => page.getByText("Set-up complete").click(),
  },
  { name: "overview-member", as: "member", path: to("/developers"), shown: "Requests an hour" },
  { name: "overview-new", as: "newcomer", path: to("/developers"), shown: "Have a test delivery accepted" },
  { name: "overview-ineligible", as: "ineligible", path: to("/developers"), shown: "Have a test delivery accepted" },
  { name: "overview-two-brands", as: "agency", path: to("/developers"), shown: "Requests accepted" },
  { name: "overview-loading", as: "owner", path: to("/developers"), shown: "Developers", before: hanging("overview.get") },
  { name: "overview-failing", as: "owner", path: to("/developers"), shown: "Try again", before: failing("overview.get") },
  {
    name: "account-menu",
    as: "owner",
    path: to("/developers"),
    shown: "Requests an hour",
    async act(page) {
      await page.getByRole("banner").getByRole("button").last().click();
      await page.getByText("Sign out everywhere").waitFor();
    },
  },

  { name: "keys", as: "owner", path: to("/developers/keys"), shown: "Looker report", documented: true },
  {
    name: "keys-revoked",
    as: "owner",
    path: to("/developers/keys"),
    shown: "Looker report",
    act: (page) => page.getByText("1 revoked key").click(),
  },
  { name: "keys-member", as: "member", path: to("/developers/keys"), shown: "Looker report" },
  { name: "keys-empty", as: "newcomer", path: to("/developers/keys"), shown: "No keys yet" },
  { name: "keys-ineligible", as: "ineligible", path: to("/developers/keys"), shown: "No keys yet" },
  { name: "key-create", as: "newcomer", path: to("/developers/keys"), shown: "No keys yet", act: pressInDialog("Create key") },
  {
    name: "key-create-long-name",
    as: "newcomer",
    path: to("/developers/keys"),
    shown: "No keys yet",
    before: longBrandName,
    act: pressInDialog("Create key"),
  },
  {
    name: "key-create-refused",
    as: "newcomer",
    path: to("/developers/keys"),
    shown: "No keys yet",
    act: pressInDialog("Create key", "Create key"),
  },
  {
    name: "key-revoke",
    as: "owner",
    path: to("/developers/keys"),
    shown: "Looker report",
    act: pressInDialog("Revoke Looker report", "Revoke key"),
  },
  {
    name: "key-secret",
    as: "agency",
    path: to("/developers/keys"),
    shown: "API keys",
    async act(page) {
      await page.getByLabel("Brand", { exact: true }).first().selectOption({ label: "Lakad Lokal" });
      await press("Create key")(page);
      await page.getByRole("textbox", { name: "Name" }).fill(`Claude for the campaign team ${Date.now()}`);
      await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
      await page.getByText("This is the only time the key is shown").waitFor();
    },
  },

  { name: "receivers", as: "owner", path: to("/developers/receivers"), shown: "5 of 20 receivers" },
  { name: "receivers-member", as: "member", path: to("/developers/receivers"), shown: "5 of 20 receivers" },
  { name: "receivers-empty", as: "newcomer", path: to("/developers/receivers"), shown: "No receivers yet" },
  { name: "receivers-ineligible", as: "ineligible", path: to("/developers/receivers"), shown: "No receivers yet" },
  { name: "receiver-new", as: "newcomer", path: to("/developers/receivers/new"), shown: "A payout was paid" },
  { name: "receiver-new-member", as: "member", path: to("/developers/receivers/new"), shown: "receiver" },
  {
    name: "receiver-new-refused",
    as: "newcomer",
    path: to("/developers/receivers/new"),
    shown: "A payout was paid",
    async act(page) {
      await page.getByRole("textbox", { name: "URL" }).fill("http://hooks.example/events");
      await press("Register receiver")(page);
      await page.getByRole("textbox", { name: "Label" }).and(page.locator("[aria-invalid=true]")).waitFor();
    },
  },
  {
    name: "receiver-new-chat",
    as: "newcomer",
    path: to("/developers/receivers/new"),
    shown: "A payout was paid",
    async act(page) {
      await page.getByRole("textbox", { name: "URL" }).fill("https://hooks.slack.com/services/T000/B000/xyz");
      await page.getByRole("textbox", { name: "Label" }).fill("Team chat");
      await page.getByRole("checkbox").first().check();
      await press("Register receiver")(page);
      await page.getByText("relay").first().waitFor();
    },
  },
  { name: "receiver", as: "owner", path: ({ receivers }) => `/developers/receivers/${receivers.healthy}`, shown: "submission.rejected" },
  {
    name: "receiver-failing",
    documented: true,
    as: "owner",
    path: ({ receivers }) => `/developers/receivers/${receivers.failing}`,
    shown: "Retrying",
  },
  {
    name: "receiver-paused",
    as: "owner",
    path: ({ receivers }) => `/developers/receivers/${receivers.paused}`,
    shown: "is paused until",
  },
  { name: "receiver-disabled", as: "owner", path: ({ receivers }) => `/developers/receivers/${receivers.disabled}`, shown: "410 Gone" },
  {
    name: "receiver-member",
    as: "member",
    path: ({ receivers }) => `/developers/receivers/${receivers.healthy}`,
    shown: "submission.rejected",
  },
  {
    name: "receiver-test",
    as: "owner",
    path: ({ receivers }) => `/developers/receivers/${receivers.healthy}`,
    shown: "submission.rejected",
    act: pressInDialog("Send test"),
  },
  {
    name: "receiver-disable",
    as: "owner",
    path: ({ receivers }) => `/developers/receivers/${receivers.healthy}/settings`,
    shown: "Signing secret",
    act: pressInDialog("Disable"),
  },
  {
    name: "receiver-enable",
    as: "owner",
    path: ({ receivers }) => `/developers/receivers/${receivers.disabled}`,
    shown: "410 Gone",
    act: pressInDialog("Enable"),
  },
  {
    name: "delivery",
    documented: true,
    as: "owner",
    path: ({ deliveryId }) => `/developers/deliveries/${deliveryId}`,
    shown: "Attempt 4",
  },
  {
    name: "delivery-again",
    as: "owner",
    path: ({ deliveryId }) => `/developers/deliveries/${deliveryId}`,
    shown: "Attempt 4",
    async act(page) {
      await press("Send again")(page);
      await page.getByText("Sent again from").waitFor();
    },
  },
  {
    name: "delivery-retrying",
    as: "owner",
    path: ({ failedDeliveryId }) => `/developers/deliveries/${failedDeliveryId}`,
    shown: "Attempt 1",
  },

  {
    name: "receiver-settings",
    as: "owner",
    path: ({ receivers }) => `/developers/receivers/${receivers.healthy}/settings`,
    shown: "Signing secret",
  },
  {
    name: "receiver-settings-member",
    as: "member",
    path: ({ receivers }) => `/developers/receivers/${receivers.healthy}/settings`,
    shown: "Settings of",
  },
  {
    name: "receiver-delete",
    as: "owner",
    path: ({ receivers }) => `/developers/receivers/${receivers.healthy}/settings`,
    shown: "Signing secret",
    act: pressInDialog("Delete receiver"),
  },
  {
    name: "receiver-next-secret",
    as: "owner",
    path: ({ receivers }) => `/developers/receivers/${receivers.healthy}/settings`,
    shown: "Signing secret",
    act: pressInDialog("Make the next secret"),
  },
  {
    name: "receiver-replay",
    as: "owner",
    path: ({ receivers }) => `/developers/receivers/${receivers.healthy}/replay`,
    shown: "Replay to",
  },
  {
    name: "receiver-replaying",
    as: "owner",
    path: ({ receivers }) => `/developers/receivers/${receivers.healthy}/replay`,
    shown: "Cancel replay",
    before: replaying,
  },
  { name: "events", as: "owner", path: to("/developers/events"), shown: "submission.rejected" },
  { name: "events-empty", as: "newcomer", path: to("/developers/events"), shown: "No events" },
  { name: "event-gone", as: "owner", path: to("/developers/events/evt_unknown"), shown: "An event is kept for 30 days" },
  { name: "event", as: "owner", path: ({ eventId }) => `/developers/events/${eventId}`, shown: "Ledger sync" },
  { name: "usage", as: "owner", path: to("/developers/usage"), shown: "Looker report" },
  { name: "requests", as: "owner", path: to("/developers/requests"), shown: "rate_limited" },
  {
    name: "requests-of-one-group",
    as: "owner",
    path: to("/developers/requests"),
    shown: "rate_limited",
    act: async (page) => {
      await page.getByRole("link", { name: "invalid_parameter" }).first().click();
      await page.getByText("Clear filters").waitFor();
      await page
        .getByText(/request ids?$/)
        .first()
        .click();
    },
  },
  { name: "requests-empty", as: "newcomer", path: to("/developers/requests"), shown: "No failed requests in the last" },
  { name: "requests-failing", as: "owner", path: to("/developers/requests"), shown: "Try again", before: failing("requests.failed") },
  // The heading is in the HTML, before anything listens to keys.
  { name: "find", as: "agency", path: to("/developers/keys"), shown: "Monthly report", act: (page) => openFind(page, "") },
  {
    name: "find-an-id",
    as: "owner",
    path: to("/developers/keys"),
    shown: "Looker report",
    act: (page) => openFind(page, "sub_01h455vb4pex5vsknk084sn02q"),
  },
  { name: "find-nothing", as: "owner", path: to("/developers/keys"), shown: "Looker report", act: (page) => openFind(page, "zebra") },
  { name: "usage-empty", as: "newcomer", path: to("/developers/usage"), shown: "No requests" },
  { name: "members", as: "owner", path: to("/developers/members"), shown: "Change role", documented: true },
  { name: "members-member", as: "member", path: to("/developers/members"), shown: "add and remove members" },
  { name: "members-failing", as: "owner", path: to("/developers/members"), shown: "Try again", before: failing("members.list") },
  { name: "members-loading", as: "owner", path: to("/developers/members"), shown: "Add member", before: hanging("members.list") },
  { name: "member-add", as: "owner", path: to("/developers/members"), shown: "Change role", act: pressInDialog("Add member") },
  {
    name: "member-add-refused",
    as: "owner",
    path: to("/developers/members"),
    shown: "Change role",
    async act(page) {
      await pressInDialog("Add member")(page);
      await page.getByRole("dialog").getByLabel("E-mail address").fill("maria@ulap-at-araw.example");
      await press("Add member")(page);
      await page.getByText("already").waitFor();
    },
  },
  {
    name: "member-invited",
    as: "owner",
    path: to("/developers/members"),
    shown: "Change role",
    async act(page) {
      await pressInDialog("Add member")(page);
      await page.getByRole("dialog").getByLabel("E-mail address").fill(`lia+${Date.now()}@ulap-at-araw.example`);
      await press("Add member")(page);
      await page.getByText("is a member now").waitFor();
    },
  },
  {
    name: "member-link",
    as: "owner",
    path: to("/developers/members"),
    shown: "Change role",
    async act(page) {
      await pressInDialog(/^New link: jun/, "Make link")(page);
      await page.getByText("This is the only time the link is shown").waitFor();
    },
  },
  { name: "member-role", as: "owner", path: to("/developers/members"), shown: "Change role", act: pressInDialog(/^Change role: jun/) },
  { name: "member-remove", as: "owner", path: to("/developers/members"), shown: "Change role", act: pressInDialog(/^Remove: jun/) },
  {
    name: "member-leave-refused",
    as: "newcomer",
    path: to("/developers/members"),
    shown: "Leave",
    async act(page) {
      await pressInDialog(/^Leave/)(page);
      await page.getByText("without an owner").waitFor();
    },
  },
  { name: "audit", as: "owner", path: to("/developers/audit"), shown: "maria@ulap-at-araw.example" },
  { name: "audit-sign-ins", as: "owner", path: to("/developers/audit?action=session"), shown: "Sign in with a link" },
  { name: "audit-member", as: "member", path: to("/developers/audit"), shown: "Only owners see the audit log" },
  { name: "assistants", as: "owner", path: to("/developers/assistants"), shown: "claude mcp add" },
  { name: "assistants-typescript", as: "owner", path: to("/developers/assistants?client=typescript"), shown: "callTool" },
  { name: "assistants-member", as: "member", path: to("/developers/assistants?client=vscode"), shown: "promptString" },
  { name: "assistants-ineligible", as: "ineligible", path: to("/developers/assistants?client=others"), shown: "mcp-remote" },

  { name: "plans", as: "owner", path: to("/workspaces"), shown: "2 of 200 pending" },
  { name: "plans-all", as: "member", path: to("/workspaces?status=all"), shown: "Valentine’s package" },
  { name: "plans-empty", as: "newcomer", path: to("/workspaces"), shown: "No plans are waiting" },
  { name: "plan-basics", as: "owner", path: ({ plans }) => plans.pending, shown: "Save and continue" },
  { name: "plan-budget", as: "owner", path: ({ plans }) => `${plans.pending}?step=budget`, shown: "A figure to plan with" },
  { name: "plan-creative", as: "owner", path: ({ plans }) => `${plans.pending}?step=creative`, shown: "Add a platform" },
  { name: "plan-notes", as: "owner", path: ({ plans }) => `${plans.pending}?step=notes`, shown: "Only your team sees these." },
  {
    name: "plan-review",
    as: "owner",
    path: ({ plans }) => `${plans.pending}?step=review`,
    shown: "Complete plan",
    documented: "Complete plan",
  },
  {
    name: "plan-unconfirmed",
    as: "owner",
    path: ({ plans }) => `${plans.pending}?step=review`,
    shown: "Complete plan",
    act: press("Complete plan"),
  },
  {
    name: "plan-refused",
    as: "owner",
    path: ({ plans }) => plans.pending,
    shown: "Save and continue",
    async act(page) {
      await page.getByRole("textbox", { name: "Title" }).fill("");
      await page.getByLabel("Planned for").fill("");
      await press("Save and continue")(page);
      await page.getByText("2 things need your attention").waitFor();
    },
  },
  {
    name: "plan-conflict",
    documented: true,
    as: "owner",
    path: ({ plans }) => plans.pending,
    shown: "Save and continue",
    before: changing,
    async act(page) {
      await page.getByRole("textbox", { name: "Title" }).fill("Ulan, araw: skincare clips");
      await page.getByRole("textbox", { name: "Goal" }).fill("600,000 views before Christmas");
      await press("Save and continue")(page);
      await page.getByText("Choose what to keep").waitFor();
    },
  },
  { name: "plan-cancel", as: "owner", path: ({ plans }) => plans.pending, shown: "Save and continue", act: pressInDialog("Cancel plan") },
  { name: "plan-completed", as: "member", path: ({ plans }) => plans.completed, shown: "Nothing was published" },
  { name: "plan-cancelled", as: "owner", path: ({ plans }) => plans.cancelled, shown: "Nothing was published" },

  {
    name: "delivery-own",
    as: "owner",
    path: ({ deliveryId }) => `/developers/deliveries/${deliveryId}`,
    shown: "Attempt 4",
    act: (page) => page.getByText("Send this event to a machine").click(),
  },
  { name: "no-such-page", path: to("/nope"), shown: "Page not found" },
  {
    name: "event-filter-wrong",
    as: "owner",
    path: to("/developers/events"),
    shown: "submission.rejected",
    async act(page) {
      await page.getByRole("textbox", { name: "Record id" }).fill("PO 1");
      await page.getByRole("textbox", { name: "Record id" }).press("Enter");
      await page.getByText("as before").waitFor();
    },
  },
  { name: "not-found", as: "owner", path: to("/developers/nowhere"), shown: "Nothing is here" },
  { name: "unknown-delivery", as: "owner", path: to("/developers/deliveries/dlv_unknown"), shown: "Nothing is here" },
  {
    name: "left-brand",
    as: "agency",
    path: to("/developers/keys"),
    shown: "Create key",
    before: removedFromBrand,
    act: returnUntil("You are no longer a member"),
  },
  {
    name: "other-person",
    as: "newcomer",
    path: to("/developers/keys"),
    shown: "No keys yet",
    before: otherPersonSignsIn,
    act: returnUntil("is signed in now"),
  },
  { name: "long-brand-name", as: "newcomer", path: to("/developers/keys"), shown: "No keys yet", before: longBrandName },
  { name: "failing", as: "owner", path: to("/developers/keys"), shown: "Try again", before: failing("session.me") },
  { name: "navigation", as: "owner", path: to("/developers/keys"), shown: "Looker report", act: openNavigation },
];
