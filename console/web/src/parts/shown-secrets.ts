import { useLayoutEffect } from "react";
import { createStore } from "../api/store.ts";

const shown = createStore(0);

/** Counts the caller among what shows a secret, or is about to: its making is on its way. */
export function useShownSecret(isShown = true): void {
  useLayoutEffect(() => {
    if (!isShown) return;
    shown.set(shown.get() + 1);
    return () => shown.set(shown.get() - 1);
  }, [isShown]);
}

/** Whether a secret shows, or is about to, that no other page can show. What shows it stays then, also when the person's role is lost. */
export const useIsSecretShown = (): boolean => shown.use() > 0;
