import type { OperationName } from "@brand-records/console-contract";
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { useChange, type InputInBrand } from "../api/queries.ts";
import { Dialog } from "./dialog.tsx";
import { Form } from "./form.tsx";
import { announce, FormError, showProblems, type FormErrorProps } from "./states.tsx";

interface Confirmable extends Omit<FormErrorProps, "error"> {
  readonly title: string;
  /** The mutation that it confirms. */
  readonly change: { readonly isPending: boolean; readonly error: Error | null };
  /** The button that makes the change. */
  readonly action: string;
  /** It cannot be undone. */
  readonly isDangerous?: boolean;
  readonly children: ReactNode;
  onClose(): void;
}

interface ConfirmDialogProps extends Confirmable {
  /** The button that changes nothing. Default: "Cancel". */
  readonly cancel?: string;
  /** That button has the keyboard's focus at first. */
  readonly isCancelFocused?: boolean;
  /** As in Dialog. */
  readonly isKept?: boolean;
  /** What the form needs is not there yet. */
  readonly isDisabled?: boolean;
  /** Has fields: Enter confirms. */
  readonly isForm?: boolean;
  onConfirm(): void;
}

/** A dialog that makes a change once it is confirmed, and shows why it was not made. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, change, action, cancel = "Cancel", isDangerous = false, isCancelFocused = false, isKept = false, isForm = false } = props;
  const { isDisabled = false, fields = [], unknownOutcome, children, onClose, onConfirm } = props;
  const { isPending, error } = change;
  const content = (
    <>
      {children}
      <FormError error={error} fields={fields} {...(unknownOutcome !== undefined && { unknownOutcome })} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} disabled={isPending} data-autofocus={isCancelFocused || undefined}>
          {cancel}
        </Button>
        <Button
          {...(isForm ? { type: "submit" } : { onClick: onConfirm })}
          {...(isDangerous && { color: "red.9" })}
          loading={isPending}
          disabled={isDisabled}
        >
          {action}
        </Button>
      </Group>
    </>
  );
  return (
    <Dialog title={title} isPending={isPending} isKept={isKept} onClose={onClose}>
      {isForm ? (
        <Form onSubmit={onConfirm}>
          <Stack>{content}</Stack>
        </Form>
      ) : (
        content
      )}
    </Dialog>
  );
}

interface ConfirmChangeProps<Name extends OperationName> extends Omit<ConfirmDialogProps, "change" | "onConfirm"> {
  readonly operation: Name;
  readonly input: InputInBrand<Name>;
  /** The lists that it changes. */
  readonly changes: readonly OperationName[];
  /** Announced once it is made. */
  readonly done?: string;
}

/** The same for a change that needs no more than the dialog's yes, which closes it. */
export function ConfirmChange<Name extends OperationName>(props: ConfirmChangeProps<Name>) {
  const { operation, input, changes, done, ...dialog } = props;
  const change = useChange(operation, changes);
  const confirm = (): void =>
    change.make(input, () => {
      if (done !== undefined) announce(done);
      dialog.onClose();
    });
  return <ConfirmDialog {...dialog} change={change} onConfirm={confirm} />;
}

interface ConfirmByNameProps extends Confirmable {
  /** What must be typed, and what it is: "key’s name". */
  readonly name: string;
  readonly nameKind: string;
  onConfirm(): void;
}

/** Confirms what cannot be undone, once the name of its object is typed. */
export function ConfirmByName({ name, nameKind, children, onConfirm, ...props }: ConfirmByNameProps) {
  const [typed, setTyped] = useState("");
  const [isWrong, setIsWrong] = useState(false);
  const submit = (): void => {
    if (typed.trim() === name) onConfirm();
    else showProblems(() => setIsWrong(true));
  };
  return (
    <ConfirmDialog {...props} isDangerous isForm onConfirm={submit}>
      {children}
      <TextInput
        label={`Type the ${nameKind} to confirm`}
        description={name}
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setIsWrong(false);
        }}
        error={isWrong && `This is not the ${nameKind}.`}
        data-autofocus
        autoComplete="off"
      />
    </ConfirmDialog>
  );
}
