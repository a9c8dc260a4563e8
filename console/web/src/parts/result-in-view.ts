import { useEffect, useRef } from "react";

/** Moves the focus to what a change has made, and the view if it is out of sight: below the header, which styles.css leaves room for. */
export function bringIntoView(element: HTMLElement | null): void {
  element?.focus({ preventScroll: true });
  element?.scrollIntoView({ block: "nearest" });
}

/**
 * Brings the result of a change into view and into focus. The element needs `tabIndex={-1}`.
 *
 * @param result another value for each result; the first, with which the part began, is none
 */
export function useResultInView(result: unknown) {
  const place = useRef<HTMLDivElement>(null);
  const shown = useRef(result);
  useEffect(() => {
    if (shown.current === result) return;
    shown.current = result;
    bringIntoView(place.current);
  }, [result]);
  return place;
}
