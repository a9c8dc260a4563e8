import type { Member } from "@brand-records/console-contract";
import { Button, Group, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { fieldErrors } from "../../api/call.ts";
import { query, useChange } from "../../api/queries.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { showProblems } from "../../parts/show-problems.ts";
import { FormError } from "../../parts/states.tsx";
import { announce } from "../../parts/status-region.tsx";
import { useBrand } from "../../api/brand.ts";
import { HowToSignIn } from "./how-to-sign-in.tsx";
import NewLink from "./new-link.tsx";
import { ROLE_MEANINGS, roleText } from "./roles.ts";

const ROLES = (["member", "owner"] as const).map((value) => ({ value, label: roleText(value) }));

/** Asks whom to add, then shows what to send to the person: no mail is sent. */
export default function AddMember({ onClose }: { onClose(): void }) {
  const { ofBrand } = useBrand();
  const options = useQuery(query("sign_in.options", {}));
  const [added, setAdded] = useState<string>();
  const [role, setRole] = useState<Member["role"]>("member");
  const add = useChange("members.add", ["members.list"]);
  const form = useForm({ mode: "uncontrolled", initialValues: { email: "" } });

  const submit = form.onSubmit(({ email }) =>
    add.mutate(
      { ...ofBrand, email: email.trim(), role },
      {
        onSuccess: ({ member }) => {
          setAdded(member.email);
          announce("Member added");
        },
        onError: (error) => showProblems(() => form.setErrors(fieldErrors(error))),
      },
    ),
  );

  if (added !== undefined && options.data?.links === true) return <NewLink member={{ email: added }} isNew onClose={onClose} />;
  if (added !== undefined) return <HowToSignIn email={added} provider={options.data?.provider ?? null} onClose={onClose} />;
  return (
    <Dialog title="Add a member" isPending={add.isPending} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            key={form.key("email")}
            {...form.getInputProps("email")}
            label="E-mail address"
            description="The person signs in with it. No mail is sent: you then get what to send."
            type="email"
            data-autofocus
            required
            autoComplete="off"
          />
          <NativeSelect
            label="Role"
            description={ROLE_MEANINGS[role]}
            value={role}
            onChange={({ currentTarget }) => setRole(currentTarget.value === "owner" ? "owner" : "member")}
            data={ROLES}
          />
          <FormError
            error={add.error ?? options.error}
            fields={["email"]}
            unknownOutcome="The person may have been added all the same: the list shows it."
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={add.isPending}>
              Cancel
            </Button>
            <Button type="submit" loading={add.isPending} disabled={options.data === undefined}>
              Add member
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
