import { Button, Group, Stack, Text } from "@mantine/core";
import { createContext, use, useState, type MouseEvent, type ReactNode } from "react";
import { useTab } from "../api/tab.ts";
import { loadedDialog, useReturnedFocus } from "./loaded-part.tsx";

const Modal = loadedDialog(async () => (await import("./modal.ts")).default);

/** Longer than any system's. */
const DOUBLE_CLICK_MS = 1_000;

/** The receiver that the page is about: its dialogs name it. */
export const ReceiverLabel = createContext<string | undefined>(undefined);

interface DialogProps {
  readonly title: string;
  readonly size?: "lg";
  /** A change is on its way. The dialog stays open until it can show what became of it. */
  readonly isPending?: boolean;
  /** Only its own buttons close it: what it shows cannot be had again, or follows a click that may have been a double one. */
  readonly isKept?: boolean;
  readonly children: ReactNode;
  onClose(): void;
}

/**
 * A dialog about something of the tab's brand; it names the brand, and the receiver if the page is about one. Shown as long as it is mounted. The
 * keyboard's focus then returns to what opened it.
 */
export function Dialog({ title, size, isPending = false, isKept = false, children, onClose }: DialogProps) {
  useReturnedFocus();
  const { brand_name } = useTab();
  const receiver = use(ReceiverLabel);
  const [openedAt] = useState(() => performance.now());
  /** The second click of a double one was meant for what opened the dialog. */
  const dropDoubleClick = (event: MouseEvent): void => {
    if (event.detail < 2 || event.timeStamp - openedAt > DOUBLE_CLICK_MS) return;
    event.stopPropagation();
    // A button under the pointer would submit its form.
    event.preventDefault();
  };
  const close = (): void => {
    if (!isPending) onClose();
  };
  return (
    <Modal
      opened
      onClose={close}
      onClickCapture={dropDoubleClick}
      title={
        <>
          {title}
          <Text span display="block" size="sm" fw={400} c="dimmed">
            {receiver !== undefined && `Receiver: ${receiver} · `}Brand: {brand_name}
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
      <Stack>{children}</Stack>
    </Modal>
  );
}

/** The only button of a dialog that there is nothing more to do in. */
export const Done = ({ text = "Close", onClose }: { readonly text?: string; onClose(): void }) => (
  <Group justify="flex-end">
    <Button onClick={onClose} data-autofocus>
      {text}
    </Button>
  </Group>
);
