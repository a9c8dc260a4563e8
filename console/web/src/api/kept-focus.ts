/** As long as a call may take, and a moment to show its result. */
const WATCH_MS_MAX = 75_000;

/**
 * Keeps the keyboard's focus near what was pressed, if that is disabled while its call is made, or removed by what it did. Browsers leave
 * the focus nowhere then, and the next Tab begins at the top of the page. Dialogs return it themselves: see useReturnedFocus.
 */
export function keepFocus(): void {
  let stop = (): void => {};
  // Before the page's own listeners, which may disable or remove it.
  window.addEventListener("click", () => (stop(), (stop = watch(document.activeElement))), { capture: true, passive: true });
}

/** @returns what ends it, if the focus has not moved on before */
function watch(pressed: Element | null): () => void {
  const { body } = document;
  if (!(pressed instanceof HTMLElement) || pressed === body) return () => {};
  const around = pressed.parentElement?.closest<HTMLElement>("[tabindex]");
  const isInDialog = pressed.closest("[role=dialog]") !== null;
  const observer = new MutationObserver(() => {
    const { activeElement } = document;
    if (activeElement === pressed) return;
    if (activeElement !== body) return stop();
    if (pressed.isConnected) return pressed.focus({ preventScroll: true });
    stop();
    if (isInDialog) return;
    (around?.isConnected === true ? around : document.querySelector("h1"))?.focus({ preventScroll: true });
  });
  observer.observe(body, { subtree: true, childList: true, attributeFilter: ["disabled"] });
  const timer = setTimeout(() => observer.disconnect(), WATCH_MS_MAX);
  function stop(): void {
    clearTimeout(timer);
    observer.disconnect();
  }
  return stop;
}
