import { focusManager } from "@tanstack/react-query";

/** Time without use after which pages stop polling, so that an unused session can expire. */
const IDLE_MS = 30 * 60_000;
const SIGNS_OF_USE = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"] as const;

/** Pauses polling while this tab is idle, as if it were hidden. The next sign of use resumes it and reads everything again. */
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
