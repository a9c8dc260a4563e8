import { useLayoutEffect, useSyncExternalStore } from "react";

let shown = 0;
const listeners = new Set<() => void>();

function count(change: 1 | -1): void {
  shown += change;
  for (const listener of listeners) listener();
}

/** Counts the caller among what shows a secret, or is about to: its making is on its way. */
export function useShownSecret(isShown = true): void {
  useLayoutEffect(() => {
    if (!isShown) return;
    count(1);
    return () => count(-1);
  }, [isShown]);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Whether a secret shows, or is about to, that no other page can show. What shows it stays then, also when the person's role is lost. */
export const useIsSecretShown = (): boolean => useSyncExternalStore(subscribe, () => shown > 0);
