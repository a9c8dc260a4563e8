import type { Membership, Output } from "@brand-records/console-contract";
import { BRAND_COOKIE } from "@brand-records/console-contract/protocol";
import { createStore } from "./store.ts";

type Me = Output<"session.me">;

/** What a tab of the browser shows: one brand, to one person. */
export interface Tab {
  readonly email: string;
  readonly brand_id: string;
  readonly brand_name: string;
}

/** Key in sessionStorage, thus of the tab. A reload and a copy of the tab begin with it. */
const TAB = "tab";
/** Key in localStorage of the brand that was last chosen, with which a new tab begins. */
const BRAND = "brand";

/**
 * Returns what a tab shows to a person from its first page on. The brand of `before` stays as long as the person does, also after the
 * membership has ended: the page then says so. A session that opens one brand alone begins with that brand.
 *
 * @param before what the tab showed before a reload
 * @param chosen the brand to begin with, if the person is its member; else it is the first
 */
export function tabOf({ email, memberships, limited_to }: Me, before: Tab | undefined, chosen: string | null): Tab {
  if (before?.email === email && limited_to === null) return before;
  const brand = memberships.find(({ brand_id }) => brand_id === chosen) ?? memberships[0];
  // A session has at least one membership: accounts ends it with the last.
  if (brand === undefined) throw new Error("You are not a member of any brand. Ask an owner of your brand to add you.");
  return { email, brand_id: brand.brand_id, brand_name: brand.brand_name };
}

const tab = createStore<Tab | undefined>(undefined);

function show(shown: Tab): void {
  tab.set(shown);
  sessionStorage.setItem(TAB, JSON.stringify(shown));
  document.cookie = `${BRAND_COOKIE}=${shown.brand_id}; Path=/; SameSite=Lax${location.protocol === "https:" ? "; Secure" : ""}`;
}

/** Pins the tab to its brand and its person, before it shows anything of them. Only the first call does. */
export function pinTab(me: Me): void {
  if (tab.get() !== undefined) return;
  const before = sessionStorage.getItem(TAB);
  show(tabOf(me, before === null ? undefined : (JSON.parse(before) as Tab), localStorage.getItem(BRAND)));
}

/** Such as after a sign-in in this tab: the next page pins it again. */
export const unpinTab = (): void => tab.set(undefined);

/** Shows another of the person's brands in this tab. Other tabs keep theirs. */
export function showBrand({ brand_id, brand_name }: Membership): void {
  show({ ...shownTab(), brand_id, brand_name });
}

/** Shows the brand that the person has chosen. New tabs begin with it. */
export function chooseBrand(brand: Membership): void {
  showBrand(brand);
  localStorage.setItem(BRAND, brand.brand_id);
}

/** The brand has another name since it was pinned. */
export function renameBrand(brand_name: string): void {
  if (shownTab().brand_name !== brand_name) show({ ...shownTab(), brand_name });
}

/** To be called within the shell, which pins the tab. */
export const shownTab = (): Tab => pinned(tab.get());

export const useTab = (): Tab => pinned(tab.use());

function pinned(shown: Tab | undefined): Tab {
  if (shown === undefined) throw new Error("the tab is not pinned");
  return shown;
}
