import { flushSync } from "react-dom";

/**
 * Shows problems at their fields, and gives the first of these fields the keyboard's focus: with it the problem is read out. In an open
 * dialog, or else on the page.
 */
export function showProblems(show: () => void): void {
  // The focus must find the problem there: it is read once.
  flushSync(show);
  const dialogs = document.querySelectorAll("[role=dialog][aria-modal=true]");
  const within = dialogs.item(dialogs.length - 1) ?? document;
  within.querySelector<HTMLElement>(":is(input, select, textarea):is([data-error], [data-error] *)")?.focus();
}
