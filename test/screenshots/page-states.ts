import type { Output, Plan } from "@brand-records/console-contract";
import type { Page } from "playwright-core";

const FIRST_READS = /<script type="application\/json"[^>]*>[^<]*<\/script>/;

/** The page comes without what the server has read for it: its script calls for it. */
async function withoutFirstReads(page: Page): Promise<void> {
  await page.route("**", async (route) => {
    if (route.request().resourceType() !== "document") return route.fallback();
    const response = await route.fetch();
    return route.fulfill({ response, body: (await response.text()).replace(FIRST_READS, "") });
  });
}

/** @param name of an operation that the server fails to carry out */
export const failing = (name: string) => async (page: Page) => {
  await withoutFirstReads(page);
  await page.route(`**/console/api/${name}`, (route) =>
    route.fulfill({
      status: 503,
      json: {
        error: {
          code: "unavailable",
          message: "A part of the service is unavailable. Try again.",
          request_id: "4c65099e-0840-4eb2-b716-5f364b8126be",
        },
      },
    }),
  );
};

/** A replay that is far from its end: a real one takes less time than a picture. */
export async function replaying(page: Page): Promise<void> {
  await withoutFirstReads(page);
  await page.route("**/console/api/replays.latest", (route) =>
    route.fulfill({
      json: {
        replay: {
          id: "rpl_01m81s8gcgfbzv502wncvvmy43",
          receiver_id: "rcv_01m81s8gcgfbzv502wncvvmy43",
          since: "2026-11-20T16:00:00.000Z",
          until: "2026-11-22T01:00:00.000Z",
          failed_only: true,
          started_at: "2026-11-22T01:00:00.000Z",
          queued: 1_240,
          total: 5_312,
          finished_at: null,
          cancelled_at: null,
        },
      },
    }),
  );
}

/** Another person changes the plan as soon as the page has read it. */
export async function changing(page: Page): Promise<void> {
  let reads = 0;
  await withoutFirstReads(page);
  await page.route("**/console/api/plans.get", async (route) => {
    const response = await route.fetch();
    const { plan } = (await response.json()) as { plan: Plan };
    reads += 1;
    const by = { revision: plan.revision + 1, edited_by: "jun@ulap-at-araw.example", edited_at: new Date().toISOString() };
    const changed = { ...plan, ...by, title: "Rainy-season skincare clips", goal: "450,000 views by 15 December", review_on: "2027-03-20" };
    await route.fulfill({ response, json: { plan: reads > 1 ? changed : plan } });
  });
  await page.route("**/console/api/plans.update", (route) =>
    route.fulfill({ status: 409, json: { error: { code: "plan_changed", message: "The plan has changed.", request_id: "1" } } }),
  );
}

type Me = Output<"session.me">;

/** Who the person is, changed: at once, or from the second time on that the page asks. */
const changedMe =
  (changed: (me: Me) => Partial<Me>, from: 1 | 2) =>
  async (page: Page): Promise<void> => {
    let reads = 0;
    await withoutFirstReads(page);
    await page.route("**/console/api/session.me", async (route) => {
      const response = await route.fetch();
      const me = (await response.json()) as Me;
      reads += 1;
      await route.fulfill({ response, json: reads < from ? me : { ...me, ...changed(me) } });
    });
  };

/** An owner removes the person from the brand that the page shows. */
export const removedFromBrand = changedMe(({ memberships }) => ({ memberships: memberships.slice(1) }), 2);

export const otherPersonSignsIn = changedMe(() => ({ email: "carla@kapeng-alapaap.example" }), 2);

export const longBrandName = changedMe(
  ({ memberships }) => ({
    memberships: memberships.map((one) => ({
      ...one,
      brand_name: "Pinagsama-samang Pagawaan ng Kape at Tsokolate sa Kabundukan ng Cordillera, Inc.",
    })),
  }),
  1,
);

/** Returns to the page's tab, and waits for what it shows then. */
export const returnUntil =
  (shown: string) =>
  async (page: Page): Promise<void> => {
    const text = page.getByText(shown).first();
    // Waits: what was read within the last second is not read again.
    for (let tries = 0; tries < 50 && !(await text.isVisible()); tries += 1) {
      await page.evaluate("globalThis.dispatchEvent(new Event('visibilitychange'))");
      await text.waitFor({ timeout: 200 }).catch(() => undefined);
    }
    await text.waitFor();
  };

/** @param name of an operation that gets no response */
export const hanging = (name: string) => async (page: Page) => {
  await withoutFirstReads(page);
  await page.route(`**/console/api/${name}`, () => {});
};

export const press =
  (...buttons: (string | RegExp)[]) =>
  async (page: Page): Promise<void> => {
    for (const name of buttons) await page.getByRole("button", { name }).last().click();
  };

/** Opens a dialog, which loads when it is needed, and presses its buttons. */
export const pressInDialog =
  (open: string | RegExp, ...buttons: string[]) =>
  async (page: Page): Promise<void> => {
    await press(open)(page);
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    for (const name of buttons) await dialog.getByRole("button", { name, exact: true }).click();
  };

/** Needed on a narrow screen only: a wide one always shows it. */
export async function openNavigation(page: Page): Promise<void> {
  const burger = page.getByRole("button", { name: "Navigation" });
  if (await burger.isVisible()) await burger.click();
}

/** Opens the search for pages and ids, and types into it. */
export async function openFind(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByLabel("An id, or the name").fill(text);
  await page
    .getByRole("dialog")
    .getByText(text === "zebra" ? "Nothing is found" : text === "" ? "Audit log" : "Events about")
    .first()
    .waitFor();
}
