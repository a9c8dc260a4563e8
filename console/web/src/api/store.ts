import { useSyncExternalStore } from "react";

/** A value that components follow, and that is set from anywhere. */
export function createStore<Value>(value: Value) {
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const get = (): Value => value;
  const set = (next: Value): void => {
    value = next;
    for (const listener of listeners) listener();
  };
  return { get, set, use: () => useSyncExternalStore(subscribe, get) };
}
