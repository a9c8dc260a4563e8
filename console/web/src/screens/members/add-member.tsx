import type { Member } from "@brand-records/console-contract";
import { NativeSelect, TextInput, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { fieldErrors } from "../../api/call.ts";
import { query, useBrand, useChange } from "../../api/queries.ts";
import { Dialog, Done } from "../../parts/dialog.tsx";
import { useFields } from "../../parts/form.tsx";
import { SecretDialog, useSecretChange } from "../../parts/secret-dialog.tsx";
import { announce, Hint, showProblems } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { ROLE_MEANINGS, roleText } from "./roles.ts";
import { CopyableText } from "../../parts/copyable.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";

const ROLES = (["member", "owner"] as const).map((value) => ({ value, label: roleText(value) }));

/** Asks whom to add, then shows what to send to the person: no mail is sent. */
export function AddMember({ onClose }: { onClose(): void }) {
  const options = useQuery(query("sign_in.options", {}));
  const [added, setAdded] = useState<string>();
  const add = useChange("members.add", ["members.list"]);
  const { values, set, text, setErrors } = useFields<{ email: string; role: Member["role"] }>({ email: "", role: "member" });
  const { email, role } = values;

  const submit = (): void =>
    add.make(
      { email: email.trim(), role },
      ({ member }) => {
        setAdded(member.email);
        announce("Member added");
      },
      (error) => showProblems(() => setErrors(fieldErrors(error))),
    );

  if (added !== undefined && options.data?.links === true) return <NewLink member={{ email: added }} isNew onClose={onClose} />;
  if (added !== undefined) return <HowToSignIn email={added} provider={options.data?.provider ?? null} onClose={onClose} />;
  return (
    <ConfirmDialog
      title="Add a member"
      change={{ isPending: add.isPending, error: add.error ?? options.error }}
      action="Add member"
      fields={["email"]}
      unknownOutcome="The person may have been added all the same: the list shows it."
      isDisabled={options.data === undefined}
      isForm
      onConfirm={submit}
      onClose={onClose}
    >
      <TextInput
        {...text("email")}
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
        onChange={({ currentTarget }) => set({ role: currentTarget.value === "owner" ? "owner" : "member" })}
        data={ROLES}
      />
    </ConfirmDialog>
  );
}

/** What to send to a new member who signs in at the provider. */
function HowToSignIn({ email, provider, onClose }: { readonly email: string; readonly provider: string | null; onClose(): void }) {
  const { brand_name } = useBrand();
  const where = provider === null ? "" : ` with your account at ${provider},`;
  const text = `You are now a member of ${brand_name} on Brand Records. Sign in at ${window.location.origin}/sign-in${where} with the e-mail address ${email}.`;
  return (
    <Dialog title={`${email} is a member now`} size="lg" isKept onClose={onClose}>
      <Text>No mail is sent. Send this to the person:</Text>
      <CopyableText text={text} label="The text" />
      <Done text="Done" onClose={onClose} />
    </Dialog>
  );
}

interface NewLinkProps {
  readonly member: Pick<Member, "email">;
  /** The person has been added just now. */
  readonly isNew?: boolean;
  onClose(): void;
}

/** Makes a link that signs a member in, and shows it once. */
export function NewLink({ member: { email }, isNew = false, onClose }: NewLinkProps) {
  const { brand_name } = useBrand();
  const options = useQuery(query("sign_in.options", {})).data;
  const link = useSecretChange("members.link", ["members.list"], "Link made");

  if (link.made !== undefined) {
    return (
      <SecretDialog
        title={`Sign-in link for ${email}`}
        kind="link"
        secret={link.made.url}
        advice="Send it over a channel that only this person reads: anyone who opens it acts as this person."
        done="I have sent it"
        onStored={onClose}
      >
        <Text size="sm">
          It works once, until <When at={link.made.expires_at} />, and opens {brand_name} only. When the session has ended, the person needs
          a new one{options?.provider == null ? "." : `, or signs in with ${options.provider}.`}
        </Text>
      </SecretDialog>
    );
  }
  return (
    <ConfirmDialog
      title={isNew ? `${email} is a member now` : "Make a sign-in link?"}
      change={link}
      action="Make link"
      cancel={isNew ? "Later" : "Cancel"}
      isKept={isNew}
      unknownOutcome="A link may have been made all the same. No one has seen it: make another."
      onConfirm={() => link.make({ email })}
      onClose={onClose}
    >
      <Text>
        {isNew ? (
          "No mail is sent. Make a link, and send it to the person."
        ) : (
          <>
            It signs <strong>{email}</strong> in.
          </>
        )}{" "}
        It works once, within {options?.link_hours} hours, and opens {brand_name} only.
      </Text>
      <Hint>Anyone who opens it acts as this person. The audit log shows that you made it.</Hint>
    </ConfirmDialog>
  );
}
