import { ownPath } from "@brand-records/console-contract/own-path";

/** Key in localStorage: a sign-in link comes from a mail or a terminal, and mostly opens in another tab than the page the person came for. */
const KEY = "return_to";
/** Links of `brandctl` work for 15 minutes. Who signs in much later came for something else. */
export const KEPT_MS = 3_600_000;

/** @param at Unix time in milliseconds */
export const keptText = (path: string, at: number): string => JSON.stringify({ path: ownPath(path), at });

/** Returns the path that a sign-in by link leads to: the page's own, or else the one that was kept within the last hour, or else the first page. */
export function pathAfterSignIn(own: string | undefined, kept: string | null, now: number): string {
  if (own !== undefined || kept === null) return ownPath(own);
  const { path, at } = JSON.parse(kept) as { readonly path: unknown; readonly at: number };
  return ownPath(now - at <= KEPT_MS ? path : undefined);
}

/** Keeps the page that a signed-out person came for, in every tab of the browser. */
export const keepReturnTo = (path: string): void => localStorage.setItem(KEY, keptText(path, Date.now()));

/** Such as once somebody is signed in. */
export const forgetReturnTo = (): void => localStorage.removeItem(KEY);

export const returnPath = (own: string | undefined): string => pathAfterSignIn(own, localStorage.getItem(KEY), Date.now());
