import { Component, lazy, Suspense, useState, type ComponentType, type ReactNode } from "react";
import { Button, Text } from "@mantine/core";
import { LoadingRows } from "../../parts/states.tsx";
import states from "../../parts/states.module.css";

type LoadedPart<Props> = ComponentType<Props> & { preload(): void };

/**
 * A part of a page in a file of its own. If it cannot be loaded, it says so in its place: the page around it stays, with what was typed.
 */
export function loadedPart<Props extends object>(load: () => Promise<ComponentType<Props>>): LoadedPart<Props> {
  const begin = () => lazy(async () => ({ default: await load() }));
  // Kept until a failure was shown: lazy() repeats nothing by itself.
  let Loaded = begin();
  function Part(props: Props): ReactNode {
    const [attempt, setAttempt] = useState(0);
    const retry = (): void => {
      Loaded = begin();
      setAttempt(attempt + 1);
    };
    return (
      <FailureBoundary key={attempt} retry={retry}>
        <Suspense fallback={<LoadingRows />}>
          <Loaded {...props} />
        </Suspense>
      </FailureBoundary>
    );
  }
  // A failure is shown once the part is needed, and it is loaded again then.
  return Object.assign(Part, { preload: () => void load().catch(() => undefined) });
}

interface FailureBoundaryProps {
  readonly children: ReactNode;
  retry(): void;
}

/** React has no hook for this. */
class FailureBoundary extends Component<FailureBoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <div className={states["error"]} role="alert">
        <Text fw={600}>This part of the page could not be loaded.</Text>
        <Text size="sm">
          Your unsaved edits are still here. Check your connection, then try again. If that does not help, copy them before you reload the
          page: a new version of the console may have been installed.
        </Text>
        <Button variant="default" size="xs" onClick={this.props.retry}>
          Try again
        </Button>
      </div>
    );
  }
}
