import { Checkbox, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { fieldErrors } from "../../api/call.ts";
import { FirstCall } from "../../parts/copyable.tsx";
import { useSecretChange, SecretDialog } from "../../parts/secret-dialog.tsx";
import { Hint, showProblems } from "../../parts/states.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { useMe } from "../../api/queries.ts";

/** Asks for the name and the permission of a new key, then shows the key once. */
export function CreateKey({ onClose }: { onClose(): void }) {
  const { environment } = useMe();
  const create = useSecretChange("keys.create", ["keys.list"], "Key created");
  const form = useForm({ mode: "uncontrolled", initialValues: { name: "", may_prepare: false } });

  const submit = form.onSubmit((values) => create.make(values, (error) => showProblems(() => form.setErrors(fieldErrors(error)))));

  if (create.made !== undefined) return <NewKey secret={create.made.secret} onStored={onClose} />;
  return (
    <ConfirmDialog
      title="Create an API key"
      change={create}
      action="Create key"
      fields={["name", "may_prepare"]}
      unknownOutcome="The key may have been created all the same. Look at the list before you create another."
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        key={form.key("name")}
        {...form.getInputProps("name")}
        label="Name"
        description="The integration that uses it, such as “Looker report”"
        data-autofocus
        required
        autoComplete="off"
      />
      {environment === "live" && (
        <Checkbox
          key={form.key("may_prepare")}
          {...form.getInputProps("may_prepare", { type: "checkbox" })}
          label="May prepare campaign plans"
          description="The key’s integration can put plans into your workspace for review. It cannot publish, fund or pay anything."
        />
      )}
      <Hint>Every key can read all of the brand’s records.</Hint>
    </ConfirmDialog>
  );
}

function NewKey({ secret, onStored }: { readonly secret: string; onStored(): void }) {
  return (
    <SecretDialog title="Your new API key" kind="key" secret={secret} onStored={onStored}>
      <Stack gap="xs">
        <Text size="sm">Try it, with the key in the variable BRAND_RECORDS_KEY:</Text>
        <FirstCall />
      </Stack>
    </SecretDialog>
  );
}
