import { Button, Group, Text } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";
import { useRef, useState, type ReactNode } from "react";
import type { OperationName, Output } from "@brand-records/console-contract";
import { CopyableText } from "./copyable.tsx";
import { Dialog } from "./dialog.tsx";
import { useShownSecret } from "./shown-secrets.ts";
import { useChange, type InputInBrand } from "../api/queries.ts";
import { announce } from "./states.tsx";

interface SecretDialogProps {
  readonly title: string;
  /** What it is, for copying: "key", "signing secret" or "link". */
  readonly kind: string;
  readonly secret: string;
  /** What to do with it at once. Default: to store it. */
  readonly advice?: ReactNode;
  /** The button that closes. */
  readonly done?: string;
  /** Where it goes, and how it is used. */
  readonly children: ReactNode;
  /** The caller forgets the secret: it is kept nowhere else. */
  onStored(): void;
}

const STORE = "Store it where your integration keeps its secrets, never in a browser, a repository or a chat.";

/**
 * Shows a secret that no other page can show. Closes only by the button that says so: Escape, a click beside it, the browser's Back and the
 * end of the session do nothing, and a reload asks first.
 */
export function SecretDialog({ title, kind, secret, advice = STORE, done = "I have stored it", children, onStored }: SecretDialogProps) {
  useShownSecret();
  const isStored = useRef(false);
  useBlocker({ shouldBlockFn: () => !isStored.current, enableBeforeUnload: () => !isStored.current });
  const close = (): void => {
    isStored.current = true;
    onStored();
  };
  return (
    <Dialog title={title} size="lg" isKept onClose={close}>
      <Text>
        <strong>This is the only time the {kind} is shown.</strong> {advice}
      </Text>
      <CopyableText text={secret} label={`The ${kind}`} />
      {children}
      <Group justify="flex-end">
        <Button onClick={close}>{done}</Button>
      </Group>
    </Dialog>
  );
}

/**
 * The mutation of an operation that returns what shows once. The page stays until it can show that, and closing it asks first. Lists named in
 * `changes` are read again, and not waited for. If the session has ended, they lead to the sign-in page: the call itself cannot yet.
 *
 * @param done announced once it is made
 */
export function useSecretChange<Name extends OperationName>(
  name: Name,
  changes: readonly [OperationName, ...OperationName[]],
  done: string,
) {
  const change = useChange(name, changes, false);
  // Here alone: a secret in a cache would outlive its dialog.
  const [made, setMade] = useState<Output<Name>>();
  const { isPending, error } = change;
  useShownSecret(isPending);
  useBlocker({ shouldBlockFn: () => isPending, enableBeforeUnload: isPending });
  const make = (input: InputInBrand<Name>, onError: (error: Error) => void = () => {}): void =>
    change.make(
      input,
      (output) => {
        setMade(() => output);
        announce(done);
        change.reset();
      },
      onError,
    );
  return { isPending, error, made, make, forget: () => setMade(undefined) };
}
