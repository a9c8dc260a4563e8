import { Button, Group, Text } from "@mantine/core";
import { createContext, lazy, Suspense, useContext, useState, type ComponentType, type ReactNode } from "react";
import { LoadingRows } from "./states.tsx";
import styles from "./states.module.css";

type LoadedPart<Props> = ComponentType<Props> & { preload(): void };

/** How a part shows while it loads: as rows, as nothing, or as whatever stands around it shows. */
type Loading = "rows" | "nothing" | "outside";

/**
 * A part of a page in a file of its own. If it cannot be loaded, that shows in its place: the page around it stays, with what was typed. A
 * dialog's place is the corner of the window.
 */
export function loadedPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  loading: Loading = "rows",
  NotLoaded: (props: Props) => ReactNode = NotLoadedHere,
): LoadedPart<Props> {
  let hasFailed = false;
  const begin = () =>
    lazy(async (): Promise<{ default: ComponentType<Props> }> => {
      try {
        return { default: await load() };
      } catch {
        hasFailed = true;
        return { default: NotLoaded };
      }
    });
  let Loaded = begin();
  function Part(props: Props): ReactNode {
    const beginAgain = (attempts = 0): number => {
      if (hasFailed) Loaded = begin();
      hasFailed = false;
      return attempts + 1;
    };
    const [, setAttempts] = useState(() => beginAgain());
    const retry = (): void => setAttempts(beginAgain);
    const part = <Loaded {...props} />;
    return (
      <Retry value={retry}>
        {loading === "outside" ? part : <Suspense fallback={loading === "rows" && <LoadingRows />}>{part}</Suspense>}
      </Retry>
    );
  }
  // A failure shows once the part is needed, which then loads it again.
  return Object.assign(Part, { preload: () => void load().catch(() => undefined) });
}

interface Closable {
  onClose(): void;
}

/** The same for a dialog: while it loads, nothing shows, and what could not be loaded can be closed. */
export const loadedDialog = <Props extends Closable>(load: () => Promise<ComponentType<Props>>): LoadedPart<Props> =>
  loadedPart(load, "nothing", NotLoadedDialog);

const Retry = createContext((): void => undefined);

const NotLoadedDialog = ({ onClose }: Closable) => (
  <div className={styles["floating"]}>
    <NotLoadedHere onClose={onClose} />
  </div>
);

function NotLoadedHere({ onClose }: Partial<Closable>) {
  const retry = useContext(Retry);
  return (
    <div className={styles["error"]} role="alert">
      <Text fw={600}>This part of the page could not be loaded.</Text>
      <Text size="sm">
        Your unsaved edits are still here. If trying again does not help, copy them and reload the page: the console may have a new version.
      </Text>
      <Group gap="xs">
        <Button variant="default" size="xs" onClick={retry}>
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
}
