/** Longer than a dialog takes that will come. */
const WAIT_MS_MAX = 10_000;

/**
 * Keeps what is typed between the key or the click that opens a dialog and the moment when its field has the focus, and types it there. The
 * button that was pressed is busy until then; for a key, the one that the key presses. Without it "usage" arrived as "e" over a slow line.
 *
 * @returns what ends it, and drops what was typed
 */
export function keepKeys(): () => void {
  const button = document.activeElement?.closest("button") ?? document.querySelector("[aria-keyshortcuts]");
  let typed = "";
  const keep = (event: KeyboardEvent): void => {
    const { key, ctrlKey, metaKey, altKey, isComposing } = event;
    if (ctrlKey || metaKey || altKey || isComposing || (key.length > 1 && key !== "Backspace")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    typed = key === "Backspace" ? typed.slice(0, -1) : typed + key;
  };
  const give = ({ target }: FocusEvent): void => {
    if (!(target instanceof HTMLElement) || target.closest("[role=dialog]") === null) return;
    stop();
    if (typed !== "" && target instanceof HTMLInputElement) fill(target, typed);
  };
  const timer = setTimeout(stop, WAIT_MS_MAX);
  function stop(): void {
    clearTimeout(timer);
    button?.removeAttribute("aria-busy");
    removeEventListener("keydown", keep, true);
    removeEventListener("focusin", give);
  }
  button?.setAttribute("aria-busy", "true");
  addEventListener("keydown", keep, true);
  addEventListener("focusin", give);
  return stop;
}

/** As if it was typed: React hears of a value that was not set through the element's own property. */
function fill(input: HTMLInputElement, text: string): void {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(input, text);
  input.dispatchEvent(new Event("input", { bubbles: true }));
}
