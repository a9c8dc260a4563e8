import { eventually } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import type { OperationName } from "@brand-records/console-contract";
import type { Page } from "playwright-core";
import type { ConsoleCaller } from "./console-calls.ts";
import type { Hand } from "./hands.ts";
import { postPlan } from "./plan-input.ts";

/** A brand with an event of the last day. */
export interface ShownBrand {
  readonly id: string;
  readonly name: string;
  readonly owner: ConsoleCaller;
  /** May prepare campaign plans. */
  readonly key: string;
  readonly gatewayUrl: string;
  /** A receiver that accepts everything. */
  readonly receiverUrl: string;
}

/** How an owner makes a change in a page. */
export interface Change {
  /** Action in the audit log. */
  readonly action: string;
  readonly hasDialog: boolean;
  /** Set if its page is of no record. */
  readonly isOfList?: true;
  /** Makes, before the page is opened, a state that does not last. */
  fake?(page: Page): Promise<unknown>;
  /** Makes what is changed. @returns the page's path */
  make(brand: ShownBrand, email: string): Promise<string> | string;
  /** Does everything up to the last press. */
  fill(page: Page, hand: Hand, email: string): Promise<void>;
  submit(page: Page, hand: Hand): Promise<void>;
}

const pressed = (page: Page, hand: Hand, name: string | RegExp): Promise<void> =>
  hand.press(page.getByRole("button", { name, exact: true }));
const ofDialog =
  (name: string) =>
  (page: Page, hand: Hand): Promise<void> =>
    hand.press(page.getByRole("dialog").getByRole("button", { name, exact: true }));
const ofPage =
  (name: string) =>
  (page: Page, hand: Hand): Promise<void> =>
    pressed(page, hand, name);

export async function makeReceiver({ id: brand_id, owner, receiverUrl }: ShownBrand): Promise<{ brand_id: string; receiver_id: string }> {
  const settings = { url: receiverUrl + newId("hook"), label: "Warehouse", events: ["payout.paid"] };
  const { receiver } = await owner.call("receivers.create", { brand_id, ...settings });
  return { brand_id, receiver_id: receiver.id };
}

const settingsOf = ({ receiver_id }: { readonly receiver_id: string }): string => `/developers/receivers/${receiver_id}/settings`;
const replayOf = ({ receiver_id }: { readonly receiver_id: string }): string => `/developers/receivers/${receiver_id}/replay`;

/** Another member, made for the person. */
const colleague = (email: string): string => `jun.${email}`;

async function addColleague({ id: brand_id, owner }: ShownBrand, email: string): Promise<string> {
  await owner.call("members.add", { brand_id, email: colleague(email), role: "member" });
  return "/developers/members";
}

/** @returns the path of its page */
export async function preparePlan({ key, gatewayUrl }: ShownBrand): Promise<string> {
  const response = await postPlan(gatewayUrl, key);
  return ((await response.json()) as { readonly review_path: string }).review_path;
}

/** Waits for a button. The page's first state came with itself: returning to its tab reads it again. */
const shownAgain = (page: Page, name: string): Promise<void> =>
  eventually(
    async () => {
      await page.evaluate("globalThis.dispatchEvent(new Event('visibilitychange'))");
      expect(await page.getByRole("button", { name }).count()).toBe(1);
    },
    { everyMs: 200 },
  );

/** Every operation that changes something of a brand, by how a page does it. */
export const CONSOLE_CHANGES = {
  "keys.create": {
    action: "key.create",
    hasDialog: true,
    isOfList: true,
    make: () => "/developers/keys",
    async fill(page, hand) {
      await pressed(page, hand, "Create key");
      await hand.type(page.getByRole("dialog").getByRole("textbox", { name: "Name" }), "Looker report");
    },
    submit: ofDialog("Create key"),
  },
  "keys.revoke": {
    action: "key.revoke",
    hasDialog: true,
    isOfList: true,
    async make({ id: brand_id, owner }, email) {
      await owner.call("keys.create", { brand_id, name: email, may_prepare: false });
      return "/developers/keys";
    },
    async fill(page, hand, email) {
      await pressed(page, hand, `Revoke ${email}`);
      await hand.type(page.getByRole("textbox", { name: /Type the word/ }), "revoke");
    },
    submit: ofDialog("Revoke key"),
  },
  "receivers.create": {
    action: "receiver.create",
    hasDialog: false,
    isOfList: true,
    make: () => "/developers/receivers/new",
    async fill(page, hand) {
      await hand.type(page.getByRole("textbox", { name: "URL" }), "https://receiver.example/hooks");
      await hand.type(page.getByRole("textbox", { name: "Label" }), "Warehouse");
    },
    submit: ofPage("Register receiver"),
  },
  "receivers.update": {
    action: "receiver.update",
    hasDialog: false,
    make: async (brand) => settingsOf(await makeReceiver(brand)),
    fill: (page, hand) => hand.type(page.getByRole("textbox", { name: "Label" }), "Another label"),
    submit: ofPage("Save"),
  },
  "receivers.enable": {
    action: "receiver.enable",
    hasDialog: true,
    async make(brand) {
      const receiver = await makeReceiver(brand);
      await brand.owner.call("receivers.disable", receiver);
      return settingsOf(receiver);
    },
    fill: ofPage("Enable"),
    submit: ofDialog("Enable"),
  },
  "receivers.disable": {
    action: "receiver.disable",
    hasDialog: true,
    make: async (brand) => settingsOf(await makeReceiver(brand)),
    fill: ofPage("Disable"),
    submit: ofDialog("Disable"),
  },
  "receivers.delete": {
    action: "receiver.delete",
    hasDialog: true,
    make: async (brand) => settingsOf(await makeReceiver(brand)),
    async fill(page, hand) {
      await pressed(page, hand, "Delete receiver");
      await hand.type(page.getByRole("textbox", { name: /Type the receiver’s label/ }), "Warehouse");
    },
    submit: ofDialog("Delete receiver"),
  },
  "receivers.rotate": {
    action: "receiver.rotate_secret",
    hasDialog: false,
    make: async (brand) => settingsOf(await makeReceiver(brand)),
    fill: (page) => page.getByRole("button", { name: "Make the next secret" }).waitFor(),
    submit: ofPage("Make the next secret"),
  },
  "receivers.activate": {
    action: "receiver.activate_secret",
    hasDialog: true,
    async make(brand) {
      const receiver = await makeReceiver(brand);
      await brand.owner.call("receivers.rotate", { ...receiver, replace: false });
      return settingsOf(receiver);
    },
    async fill(page, hand) {
      await hand.press(page.getByRole("checkbox", { name: "Activate without an accepted test" }));
      await pressed(page, hand, "Activate");
    },
    submit: ofDialog("Activate"),
  },
  "receivers.send_waiting": {
    action: "receiver.send_waiting",
    hasDialog: false,
    make: async (brand) => `/developers/receivers/${(await makeReceiver(brand)).receiver_id}`,
    // A real one would be sent meanwhile.
    fake: (page) =>
      page.route("**/console/api/receivers.get", async (route) => {
        const response = await route.fetch();
        const { receiver } = (await response.json()) as { receiver: object };
        await route.fulfill({ response, json: { receiver: { ...receiver, waiting: 2, failures_in_a_row: 3 } } });
      }),
    fill: (page) => shownAgain(page, "Send all 2 waiting now"),
    submit: ofPage("Send all 2 waiting now"),
  },
  "receivers.test": {
    action: "receiver.test",
    hasDialog: true,
    make: async (brand) => `/developers/receivers/${(await makeReceiver(brand)).receiver_id}`,
    fill: ofPage("Send test"),
    submit: ofDialog("Send test"),
  },
  "deliveries.replay": {
    action: "delivery.replay",
    hasDialog: false,
    async make(brand) {
      const { brand_id, receiver_id } = await makeReceiver(brand);
      const { delivery_id } = await brand.owner.call("receivers.test", { brand_id, receiver_id, type: "payout.paid", next: false });
      await eventually(async () => {
        const { delivery } = await brand.owner.call("deliveries.get", { brand_id, delivery_id });
        expect(delivery.state).toBe("delivered");
      });
      return `/developers/deliveries/${delivery_id}`;
    },
    fill: (page) => page.getByRole("button", { name: "Send again" }).waitFor(),
    submit: ofPage("Send again"),
  },
  "replays.start": {
    action: "receiver.replay",
    hasDialog: true,
    make: async (brand) => replayOf(await makeReceiver(brand)),
    async fill(page, hand) {
      await hand.choose(page.getByRole("radio", { name: "Everything" }));
      await pressed(page, hand, "Start replay");
    },
    submit: ofDialog("Send 1 event"),
  },
  "replays.cancel": {
    action: "replay.cancel",
    hasDialog: true,
    // A real one takes less time than a click.
    fake: (page) =>
      page.route("**/console/api/replays.latest", async (route) => {
        const response = await route.fetch();
        const { replay } = (await response.json()) as { readonly replay: object };
        await route.fulfill({ response, json: { replay: { ...replay, finished_at: null } } });
      }),
    async make(brand) {
      const receiver = await makeReceiver(brand);
      const since = new Date(Date.now() - 3_600_000).toISOString();
      await brand.owner.call("replays.start", { ...receiver, since, failed_only: true });
      return replayOf(receiver);
    },
    async fill(page, hand) {
      await shownAgain(page, "Cancel replay");
      await pressed(page, hand, "Cancel replay");
    },
    submit: ofDialog("Cancel replay"),
  },
  "members.add": {
    action: "member.add",
    hasDialog: true,
    isOfList: true,
    make: () => "/developers/members",
    async fill(page, hand, email) {
      await pressed(page, hand, "Add member");
      await hand.type(page.getByRole("dialog").getByLabel("E-mail address"), colleague(email));
    },
    submit: ofDialog("Add member"),
  },
  "members.set_role": {
    action: "member.set_role",
    hasDialog: true,
    isOfList: true,
    make: addColleague,
    fill: (page, hand, email) => pressed(page, hand, `Change role: ${colleague(email)}`),
    submit: ofDialog("Make an owner"),
  },
  "members.remove": {
    action: "member.remove",
    hasDialog: true,
    isOfList: true,
    make: addColleague,
    fill: (page, hand, email) => pressed(page, hand, `Remove: ${colleague(email)}`),
    submit: ofDialog("Remove member"),
  },
  "members.leave": {
    action: "member.leave",
    hasDialog: true,
    isOfList: true,
    make: () => "/developers/members",
    fill: (page, hand, email) => pressed(page, hand, `Leave: ${email}`),
    submit: ofDialog("Leave"),
  },
  "mail.set": {
    action: "member.set_mail",
    hasDialog: false,
    isOfList: true,
    make: () => "/developers/mail",
    fill: (page) => page.getByRole("switch", { name: "Receivers" }).waitFor(),
    submit: (page, hand) => hand.press(page.getByRole("switch", { name: "Receivers" })),
  },
  "members.link": {
    action: "sign_in_link.create",
    hasDialog: true,
    isOfList: true,
    make: addColleague,
    fill: (page, hand, email) => pressed(page, hand, `New link: ${colleague(email)}`),
    submit: ofDialog("Make link"),
  },
  "plans.update": {
    action: "plan.update",
    hasDialog: false,
    make: preparePlan,
    fill: (page, hand) => hand.type(page.getByRole("textbox", { name: "Title" }), "Ulan at araw"),
    submit: ofPage("Save and continue"),
  },
  "plans.complete": {
    action: "plan.complete",
    hasDialog: false,
    make: async (brand) => `${await preparePlan(brand)}?step=review`,
    async fill(page, hand) {
      for (const name of ["What creators are paid", "We have the rights", "We will fund"]) await hand.press(page.getByLabel(name));
    },
    submit: ofPage("Complete plan"),
  },
  "plans.cancel": {
    action: "plan.cancel",
    hasDialog: true,
    make: preparePlan,
    fill: ofPage("Cancel plan"),
    submit: ofDialog("Cancel plan"),
  },
} as const satisfies Partial<Record<OperationName, Change>>;
