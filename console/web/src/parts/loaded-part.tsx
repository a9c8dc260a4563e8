import { Button, Text } from "@mantine/core";
import { createContext, lazy, Suspense, useContext, useState, type ComponentType, type ReactNode } from "react";
import { LoadingRows } from "../../parts/states.tsx";
import states from "../../parts/states.module.css";

type LoadedPart<Props> = ComponentType<Props> & { preload(): void };

/** A part of a page in a file of its own. If it cannot be loaded, that shows in its place: the page around it stays, with what was typed. */
export function loadedPart<Props extends object>(load: () => Promise<ComponentType<Props>>): LoadedPart<Props> {
  let hasFailed = false;
  const begin = () => {
    hasFailed = false;
    return lazy(async (): Promise<{ default: ComponentType<Props> }> => {
      try {
        return { default: await load() };
      } catch {
        hasFailed = true;
        return { default: NotLoaded };
      }
    });
  };
  let Loaded = begin();
  function Part(props: Props): ReactNode {
    const [, setAttempt] = useState(() => {
      if (hasFailed) Loaded = begin();
      return 1;
    });
    const retry = (): void => {
      Loaded = begin();
      setAttempt((attempt) => attempt + 1);
    };
    return (
      <Retry value={retry}>
        <Suspense fallback={<LoadingRows />}>
          <Loaded {...props} />
        </Suspense>
      </Retry>
    );
  }
  // A failure shows once the part is needed, which then loads it again.
  return Object.assign(Part, { preload: () => void load().catch(() => undefined) });
}

const Retry = createContext((): void => undefined);

const NotLoaded = () => {
  const retry = useContext(Retry);
  return (
    <div className={states["error"]} role="alert">
      <Text fw={600}>This part of the page could not be loaded.</Text>
      <Text size="sm">
        Your unsaved edits are still here. Check your connection, then try again. If that does not help, copy them before you reload the
        page: a new version of the console may have been installed.
      </Text>
      <Button variant="default" size="xs" onClick={retry}>
        Try again
      </Button>
    </div>
  );
};
