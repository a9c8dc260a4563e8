import { Button, Group, Text } from "@mantine/core";
import { lazy, Suspense, useEffect, useState, type ComponentType, type ReactNode } from "react";
import { useReturnedFocus } from "./returned-focus.ts";
import { LoadingRows } from "./states.tsx";
import styles from "./states.module.css";

type LoadedPart<Props> = ComponentType<Props> & { preload(): void };

/** How a part shows while it loads: as rows, as nothing, or as whatever stands around it shows. */
type Loading = "rows" | "nothing" | "outside";

interface Retryable {
  retry(): void;
}

/**
 * A part of a page in a file of its own. If it cannot be loaded, not even when it is needed again, that shows in its place: the page around
 * it stays, with what was typed. A dialog's place is the corner of the window.
 */
export function loadedPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  loading: Loading = "rows",
  NotLoaded: (props: Props & Retryable) => ReactNode = NotLoadedHere,
): LoadedPart<Props> {
  // React keeps what a lazy part was loaded as, so what stands for one that failed loads it.
  function Recovering(props: Props) {
    const [Found, setFound] = useState<ComponentType<Props> | "failed">();
    const again = (): void =>
      void load().then(
        (found) => setFound(() => found),
        () => setFound("failed"),
      );
    useEffect(again, []);
    if (Found === undefined) return null;
    return Found === "failed" ? <NotLoaded {...props} retry={again} /> : <Found {...props} />;
  }
  const Loaded = lazy(async () => ({ default: await load().catch((): ComponentType<Props> => Recovering) }));
  const Part = (props: Props): ReactNode => {
    const part = <Loaded {...props} />;
    return loading === "outside" ? part : <Suspense fallback={loading === "rows" && <LoadingRows />}>{part}</Suspense>;
  };
  // A failure shows once the part is needed, which then loads it again.
  return Object.assign(Part, { preload: () => void load().catch(() => undefined) });
}

interface Closable {
  onClose(): void;
}

/** The same for a dialog: while it loads, nothing shows, and what could not be loaded can be closed. */
export const loadedDialog = <Props extends Closable>(load: () => Promise<ComponentType<Props>>): LoadedPart<Props> =>
  loadedPart(load, "nothing", NotLoadedDialog);

function NotLoadedDialog({ onClose, retry }: Closable & Retryable) {
  useReturnedFocus();
  return (
    <div className={styles["floating"]} onKeyDown={({ key }) => key === "Escape" && onClose()}>
      <NotLoadedHere onClose={onClose} retry={retry} />
    </div>
  );
}

const NotLoadedHere = ({ onClose, retry }: Partial<Closable> & Retryable) => (
  <div className={styles["error"]} role="alert">
    <Text fw={600}>This part of the page could not be loaded.</Text>
    <Text size="sm">
      Your unsaved edits are still here. If trying again does not help, copy them and reload the page: the console may have a new version.
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
