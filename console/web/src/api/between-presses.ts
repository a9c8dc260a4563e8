/** What is held for longer is no click, such as text that is being selected. */
const HOLD_MS_MAX = 1_000;

export type Schedule = (callback: () => void) => void;

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
  const listen = (type: string, listener: () => void): void => target.addEventListener(type, listener, { capture: true, passive: true });
  listen("pointerdown", () => {
    held ??= [];
    clearTimeout(timer);
    timer = setTimeout(release, HOLD_MS_MAX);
  });
  listen("click", release);
  // No click may follow, as after a drag. If one does, it comes before the timer.
  for (const end of ["pointerup", "pointercancel"]) listen(end, () => void setTimeout(release));
  return (callback) => (held === undefined ? queueMicrotask(callback) : void held.push(callback));
}
