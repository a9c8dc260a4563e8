import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { CopyableText } from "./copyable.tsx";

export interface SecretDialogProps {
  readonly title: string;
  /** What it is, for copying: "key" or "signing secret". */
  readonly kind: string;
  readonly secret: string;
  /** Where it goes, and how it is used. */
  readonly children: ReactNode;
  /** The caller forgets the secret: it is kept nowhere else. */
  onStored(): void;
}

/** Shows a secret that no other page can show. Closes only by the button that says so: Escape and a click beside it do nothing. */
export function SecretDialog({ title, kind, secret, children, onStored }: SecretDialogProps) {
  return (
    <Modal opened onClose={onStored} title={title} size="lg" withCloseButton={false} closeOnEscape={false} closeOnClickOutside={false}>
      <Stack gap="md">
        <Text>
          <strong>This is the only time the {kind} is shown.</strong> Store it where your integration keeps its secrets, never in a browser,
          a repository or a chat.
        </Text>
        <CopyableText text={secret} label={`The ${kind}`} />
        {children}
        <Group justify="flex-end">
          <Button onClick={onStored}>I have stored it</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
