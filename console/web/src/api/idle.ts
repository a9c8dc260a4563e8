import { focusManager } from "@tanstack/react-query";

/** Then pages stop reading, so that a session that nobody uses ends. */
const IDLE_MS = 30 * 60_000;
const SIGNS_OF_USE = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"] as const;

/** Stops every query's interval while nobody uses this tab, as in a hidden tab; the next sign of use reads everything again. */
export function stopReadingWhileIdle(): void {
  let timer: number | undefined;
  let isIdle = false;
  const used = (): void => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      isIdle = true;
      focusManager.setFocused(false);
    }, IDLE_MS);
    if (!isIdle) return;
    isIdle = false;
    // Undefined: whether the tab is visible counts again.
    focusManager.setFocused(undefined);
  };
  for (const sign of SIGNS_OF_USE) window.addEventListener(sign, used, { capture: true, passive: true });
  used();
}
