import { today } from "./filters/days.ts";

type Subscribe = (listener: () => void) => () => void;

/**
 * Returns what calls listeners at each midnight in Manila, and whenever a tab shows again: its timers may have slept over one.
 *
 * @param target the window
 */
export function dayChanges(target: EventTarget): Subscribe {
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setTimeout>;
  const wait = (): void => {
    const midnight = Date.parse(`${today()}T24:00:00+08:00`);
    timer = setTimeout(notify, midnight - Date.now());
  };
  const notify = (): void => {
    clearTimeout(timer);
    wait();
    for (const listener of listeners) listener();
  };
  return (listener) => {
    if (listeners.size === 0) {
      wait();
      target.addEventListener("visibilitychange", notify);
    }
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      clearTimeout(timer);
      target.removeEventListener("visibilitychange", notify);
    };
  };
}
