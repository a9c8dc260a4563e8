import { Button, Group, Text } from "@mantine/core";
import { useEffect, useState, type ComponentType, type ReactNode, useLayoutEffect } from "react";
import { keepKeys } from "./kept-keys.ts";
import { LoadingRows } from "./states.tsx";
import styles from "./states.module.css";

type LoadedPart<Props> = ComponentType<Props> & {
  /** Whether what stands around it may show: the part is loaded, or its first load has failed. */
  useIsDue(): boolean;
};

interface Retryable {
  retry(): void;
}

/**
 * A part of a page in a file of its own. If it cannot be loaded, not even when it is asked for again, that shows in its place: the page
 * around it stays, with what was typed. A dialog's place is the corner of the window.
 *
 * It loads once the page is idle, before it is needed: a lost connection and a new version of the console take nothing away then. A failure
 * shows nothing before it is needed.
 *
 * It does not suspend, as with React's `lazy`: React shows what has suspended, even for a moment, 300 ms after its fallback.
 *
 * @param loading what shows until it is loaded
 */
export function loadedPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  loading: ReactNode = <LoadingRows />,
  NotLoaded: (props: Props & Retryable) => ReactNode = NotLoadedHere,
  useOpening: () => void = () => {},
): LoadedPart<Props> {
  let loaded: ComponentType<Props> | undefined;
  const find = async (): Promise<ComponentType<Props>> => {
    loaded ??= await load();
    return loaded;
  };
  function Part(props: Props): ReactNode {
    const [Found, setFound] = useState<ComponentType<Props> | "failed" | undefined>(() => loaded);
    useOpening();
    const start = (): void =>
      void find()
        .catch(find)
        .then(
          (found) => setFound(() => found),
          () => setFound("failed"),
        );
    useEffect(() => {
      if (Found === undefined) start();
    }, []);
    if (Found === undefined) return loading;
    return Found === "failed" ? <NotLoaded {...props} retry={start} /> : <Found {...props} />;
  }

  function useIsDue(): boolean {
    const [isDue, setIsDue] = useState(loaded !== undefined);
    const show = (): void => setIsDue(true);
    useEffect(() => void find().then(show, show), []);
    return isDue;
  }

  whenIdle(() => void find().catch(() => undefined));
  return Object.assign(Part, { useIsDue });
}

/** Runs something once the page has loaded and the browser is idle. Safari has no `requestIdleCallback`. */
function whenIdle(run: () => void): void {
  const wait = (): unknown => ("requestIdleCallback" in window ? requestIdleCallback(run, { timeout: 2_000 }) : setTimeout(run, 1_000));
  if (document.readyState === "complete") wait();
  else addEventListener("load", wait, { once: true });
}

interface Closable {
  onClose(): void;
}

/** The same for a dialog: while it loads, the button is busy and keys are kept, and what could not be loaded can be closed. */
export const loadedDialog = <Props extends Closable>(load: () => Promise<ComponentType<Props>>): LoadedPart<Props> =>
  loadedPart(load, null, NotLoadedDialog, useKeptKeys);

const useKeptKeys = (): void => useLayoutEffect(keepKeys, []);

/** Stands away from what was pressed. */
function NotLoadedDialog({ onClose, retry }: Closable & Retryable) {
  const [isPressedLow] = useState(() => (document.activeElement?.getBoundingClientRect().top ?? 0) > window.innerHeight / 2);
  useReturnedFocus();
  return (
    <div className={`${styles["floating"]} ${isPressedLow ? styles["high"] : ""}`} onKeyDown={({ key }) => key === "Escape" && onClose()}>
      <NotLoadedHere onClose={onClose} retry={retry} />
    </div>
  );
}

const NotLoadedHere = ({ onClose, retry }: Partial<Closable> & Retryable) => (
  <div className={styles["error"]} data-tone="bad" role="alert">
    <Text fw={600}>This part of the page could not be loaded.</Text>
    <Text size="sm">
      {navigator.onLine || "You are offline. "}Your unsaved edits are still here. If trying again does not help, copy them and reload the
      page: the console may have a new version.
    </Text>
    <Group gap="xs">
      <Button variant="default" size="xs" onClick={retry} autoFocus={onClose !== undefined}>
        Try again
      </Button>
      {onClose && (
        <Button variant="default" size="xs" onClick={onClose}>
          Close
        </Button>
      )}
    </Group>
  </div>
);

/** What had the focus before the first of the dialogs that replace one another. */
let opener: Element | null = null;
let openDialogs = 0;

/** Returns the keyboard's focus when a dialog unmounts. Mantine does so for one that stays mounted, which none here does. */
export function useReturnedFocus(): void {
  useLayoutEffect(() => {
    openDialogs += 1;
    opener ??= document.activeElement;
    return () => {
      openDialogs -= 1;
      // Another dialog, or the page that is shown next, may take it.
      setTimeout(() => {
        if (openDialogs === 0) returnFocus();
      });
    };
  }, []);
}

function returnFocus(): void {
  const hasNone = (): boolean => document.activeElement === document.body;
  if (hasNone() && opener instanceof HTMLElement) opener.focus({ preventScroll: true });
  // The opener is gone, as the row of a removed member, or cannot take it.
  if (hasNone()) document.querySelector("h1")?.focus({ preventScroll: true });
  opener = null;
}
