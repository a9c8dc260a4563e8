import { useLayoutEffect } from "react";

/** What had the focus before the first of the dialogs that replace one another. */
let opener: Element | null = null;
let openDialogs = 0;

/** Returns the keyboard's focus when a dialog unmounts. Mantine does so for one that stays mounted, which none here does. */
export function useReturnedFocus(): void {
  useLayoutEffect(() => {
    openDialogs += 1;
    opener ??= document.activeElement;
    return () => {
      openDialogs -= 1;
      // Another dialog, or the page that is shown next, may take it.
      setTimeout(() => {
        if (openDialogs === 0) returnFocus();
      });
    };
  }, []);
}

function returnFocus(): void {
  const hasNone = (): boolean => document.activeElement === document.body;
  if (hasNone() && opener instanceof HTMLElement) opener.focus({ preventScroll: true });
  // The opener is gone, as the row of a removed member, or cannot take it.
  if (hasNone()) document.querySelector("h1")?.focus({ preventScroll: true });
  opener = null;
}
