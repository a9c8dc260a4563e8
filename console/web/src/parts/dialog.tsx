import { Text } from "@mantine/core";
import { useLayoutEffect, type ReactNode } from "react";
import { useTab } from "../api/tab.ts";
import { loadedDialog } from "./loaded-part.tsx";

const Modal = loadedDialog(async () => (await import("./modal.ts")).default);

/** Loads what dialogs need before anybody opens one, which must succeed without a network, too. */
export const preloadDialogs = Modal.preload;

export interface DialogProps {
  readonly title: string;
  readonly size?: "lg";
  /** A change is on its way. The dialog stays open until it can show what became of it. */
  readonly isPending?: boolean;
  /** Only its own buttons close it: what it shows cannot be had again, or follows a click that may have been a double one. */
  readonly isKept?: boolean;
  readonly children: ReactNode;
  onClose(): void;
}

/** A dialog about something of the tab's brand, which it names, shown as long as it is mounted. The keyboard's focus then returns to what opened it. */
export function Dialog({ title, size, isPending = false, isKept = false, children, onClose }: DialogProps) {
  useReturnedFocus();
  const { brand_name } = useTab();
  const close = (): void => {
    if (!isPending) onClose();
  };
  return (
    <Modal
      opened
      onClose={close}
      title={
        <>
          {title}
          <Text span display="block" size="sm" fw={400} c="dimmed">
            Brand: {brand_name}
          </Text>
        </>
      }
      {...(size && { size })}
      withCloseButton={!isKept}
      closeOnEscape={!isKept}
      closeOnClickOutside={!isKept}
      // Brands' names and addresses may be one long word.
      styles={{ content: { overflowWrap: "anywhere" } }}
    >
      {children}
    </Modal>
  );
}

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
