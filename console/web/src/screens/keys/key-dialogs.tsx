import type { Key } from "@brand-records/console-contract";
import { Checkbox, Stack, Text, TextInput } from "@mantine/core";
import { fieldErrors } from "../../api/call.ts";
import { useChange, useMe } from "../../api/queries.ts";
import { ConfirmByName, ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { FirstCall } from "../../parts/copyable.tsx";
import { Dialog, Done } from "../../parts/dialog.tsx";
import { useFields } from "../../parts/form.tsx";
import { useSecretChange, SecretDialog } from "../../parts/secret-dialog.tsx";
import { announce, Hint, Notice, showProblems } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";

/** Asks for the name and the permission of a new key, then shows the key once. */
export function CreateKey({ onClose }: { onClose(): void }) {
  const { environment } = useMe();
  const create = useSecretChange("keys.create", ["keys.list"], "Key created");
  const { values, errors, set, text, setErrors } = useFields({ name: "", may_prepare: false });
  const submit = (): void => create.make(values, (error) => showProblems(() => setErrors(fieldErrors(error))));

  if (create.made !== undefined) {
    return (
      <SecretDialog title="Your new API key" kind="key" secret={create.made.secret} onStored={onClose}>
        <Stack gap="xs">
          <Text size="sm">Try it, with the key in the variable BRAND_RECORDS_KEY:</Text>
          <FirstCall />
        </Stack>
      </SecretDialog>
    );
  }
  return (
    <ConfirmDialog
      title="Create an API key"
      change={create}
      action="Create key"
      fields={["name", "may_prepare"]}
      unknownOutcome="The key may have been created all the same. Look at the list before you create another."
      isForm
      onConfirm={submit}
      onClose={onClose}
    >
      <TextInput
        {...text("name")}
        label="Name"
        description="The integration that uses it, such as “Looker report”"
        data-autofocus
        required
        autoComplete="off"
      />
      {environment === "live" && (
        <Checkbox
          checked={values.may_prepare}
          error={errors["may_prepare"]}
          onChange={({ currentTarget: { checked } }) => set({ may_prepare: checked })}
          label="May prepare campaign plans"
          description="The key’s integration can put plans into your workspace for review. It cannot publish, fund or pay anything."
        />
      )}
      <Hint>Every key can read all of the brand’s records.</Hint>
    </ConfirmDialog>
  );
}

/** Revokes a key, once its name is typed. */
export function RevokeKey({ apiKey: { id, name, hint, last_used_at }, onClose }: { readonly apiKey: Key; onClose(): void }) {
  const revoke = useChange("keys.revoke", ["keys.list"]);
  const submit = (): void => {
    revoke.make({ key_id: id }, ({ may_be_accepted_until }) => {
      announce(`${name} revoked`);
      if (may_be_accepted_until === null) onClose();
    });
  };
  const acceptedUntil = revoke.data?.may_be_accepted_until ?? null;
  if (acceptedUntil !== null) {
    return (
      <Dialog title="Key revoked" isKept onClose={onClose}>
        <Notice tone="waiting">
          <strong>{name}</strong> is revoked for good. Part of the service does not know yet: requests with it may succeed until{" "}
          <When at={acceptedUntil} isExact />, Manila time.
        </Notice>
        <Done onClose={onClose} />
      </Dialog>
    );
  }
  return (
    <ConfirmByName
      title="Revoke this key?"
      {...(last_used_at === null ? { name: "revoke", nameKind: "word" } : { name, nameKind: "key’s name" })}
      change={revoke}
      action="Revoke key"
      onConfirm={submit}
      onClose={onClose}
    >
      <Text>
        <strong>{name}</strong> (<code>{hint}</code>) is refused with its next request. This cannot be undone.
      </Text>
      <Text size="sm" c="dimmed">
        {last_used_at === null ? (
          "No use of it is recorded. One of the last minute may not show yet."
        ) : (
          <>
            Last used <When at={last_used_at} />.
          </>
        )}
      </Text>
    </ConfirmByName>
  );
}
