import { eventually } from "@brand-records/testkit";
import type { Locator, Page } from "playwright-core";

/** How a person uses a page. */
export interface Hand {
  type(field: Locator, text: string): Promise<void>;
  press(button: Locator): Promise<void>;
  /** One of several: arrow keys move the choice. */
  choose(radio: Locator): Promise<void>;
  /** One of the options of a `select`: by the keyboard, the one that begins with the text. */
  select(field: Locator, option: string): Promise<void>;
  date(field: Locator, day: string): Promise<void>;
}

export const pointer: Hand = {
  type: (field, text) => field.fill(text),
  press: (button) => button.click(),
  choose: (radio) => radio.check(),
  select: async (field, option) => void (await field.selectOption({ label: option })),
  date: (field, day) => field.fill(day),
};

/** More than any page has places to stop at: a list of 50 rows with three buttons each is the longest. */
const TABS_MAX = 300;

export const keyboardOf = (page: Page): Hand => {
  const isFocused = (target: Locator): Promise<boolean> =>
    target
      .and(page.locator(":focus"))
      .count()
      .then((count) => count > 0);
  const tabTo = async (target: Locator, state: "visible" | "attached" = "visible"): Promise<void> => {
    await target.waitFor({ state });
    for (let presses = 0; presses < TABS_MAX && !(await isFocused(target)); presses += 1) await page.keyboard.press("Tab");
    expect(await isFocused(target)).toBe(true);
  };
  return {
    async type(field, text) {
      await tabTo(field);
      await page.keyboard.press("Control+A");
      await page.keyboard.insertText(text);
    },
    async press(button) {
      await eventually(async () => expect(await button.isEnabled()).toBe(true));
      await tabTo(button);
      await page.keyboard.press((await button.getAttribute("type")) === "checkbox" ? "Space" : "Enter");
    },
    async choose(radio) {
      const group = page.getByRole("radiogroup").filter({ has: radio });
      const checked = group.locator("input:checked");
      // They may have another look, and no size of their own.
      await tabTo((await checked.count()) > 0 ? checked : group.locator("input").first(), "attached");
      await page.keyboard.press("Space");
      for (let presses = 0; presses < 4 && !(await radio.isChecked()); presses += 1) await page.keyboard.press("ArrowDown");
      expect(await radio.isChecked()).toBe(true);
    },
    async select(field, option) {
      await tabTo(field);
      await page.keyboard.type(option);
      expect(await field.locator("option:checked").innerText()).toBe(option);
    },
    async date(field, day) {
      await tabTo(field);
      const [year, month, date] = day.split("-");
      await page.keyboard.type(`${month}${date}${year}`);
    },
  };
};
