/** What is held for longer is no click, such as text that is being selected. */
const HOLD_MS_MAX = 1_000;
/** A click of a finger comes a moment after it is lifted. */
const CLICK_MS_MAX = 100;

type Schedule = (callback: () => void) => void;

/**
 * Returns a scheduler that runs callbacks at once, but none between the press of a pointer and its click. What is read in the background
 * would otherwise move a button from under the pointer, and the click would go to what is there then, or nowhere. Since callbacks run
 * before the next event, a button that a click disables gets no second one.
 *
 * @param target the window
 */
export function betweenPresses(target: EventTarget): Schedule {
  let held: (() => void)[] | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const release = (): void => {
    clearTimeout(timer);
    const callbacks = held ?? [];
    held = undefined;
    for (const callback of callbacks) queueMicrotask(callback);
  };
  const releaseIn = (milliseconds: number): void => {
    clearTimeout(timer);
    timer = setTimeout(release, milliseconds);
  };
  const listen = (type: string, listener: () => void): void => target.addEventListener(type, listener, { capture: true, passive: true });
  listen("pointerdown", () => {
    held ??= [];
    releaseIn(HOLD_MS_MAX);
  });
  // No click may follow, as after a drag.
  for (const end of ["pointerup", "pointercancel"]) listen(end, () => releaseIn(CLICK_MS_MAX));
  // While it bubbles, after the page's own listeners: microtasks run between listeners, and these must find what the
  // person saw.
  target.addEventListener("click", release, { passive: true });
  return (callback) => (held === undefined ? queueMicrotask(callback) : void held.push(callback));
}
