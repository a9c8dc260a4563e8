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

/** Key in localStorage of the last time when a tab showed a page of a session: other tabs hear of each change. */
const SIGNED_IN = "signed_in_at";

/** Somebody is signed in: what was kept is no longer needed, and tabs that wait for a sign-in go on. */
export function noteSignIn(): void {
  localStorage.removeItem(KEY);
  localStorage.setItem(SIGNED_IN, String(Date.now()));
}

/** Calls back once another tab shows a page of a session. @returns what ends it */
export function onSignIn(callback: () => void): () => void {
  const listen = ({ key }: StorageEvent): void => {
    if (key === SIGNED_IN) callback();
  };
  addEventListener("storage", listen);
  return () => removeEventListener("storage", listen);
}

export const returnPath = (own: string | undefined): string => pathAfterSignIn(own, localStorage.getItem(KEY), Date.now());
