import { VisuallyHidden } from "@mantine/core";
import { useSyncExternalStore } from "react";

let current = "";
const listeners = new Set<() => void>();

/** Tells people who do not see the page what has happened, such as "Key revoked". */
export function announce(text: string): void {
  // The same text twice is read twice only if the region changes.
  current = text === current ? `${text}\u00A0` : text;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** The page's only live region. */
export function StatusRegion() {
  const text = useSyncExternalStore(subscribe, () => current);
  return <VisuallyHidden role="status">{text}</VisuallyHidden>;
}
