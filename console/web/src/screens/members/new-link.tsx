import type { Member, Output } from "@brand-records/console-contract";
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { query, useBrand } from "../../api/queries.ts";
import { useSecretChange, SecretDialog } from "../../parts/secret-dialog.tsx";
import { When } from "../../parts/when.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { Hint } from "../../parts/states.tsx";

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

  if (link.made !== undefined) return <LinkToSend email={email} link={link.made} provider={options?.provider ?? null} onSent={onClose} />;
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

interface LinkToSendProps {
  readonly email: string;
  readonly link: Output<"members.link">;
  readonly provider: string | null;
  onSent(): void;
}

function LinkToSend({ email, link: { url, expires_at }, provider, onSent }: LinkToSendProps) {
  const { brand_name } = useBrand();
  return (
    <SecretDialog
      title={`Sign-in link for ${email}`}
      kind="link"
      secret={url}
      advice="Send it over a channel that only this person reads: anyone who opens it acts as this person."
      done="I have sent it"
      onStored={onSent}
    >
      <Text size="sm">
        It works once, until <When at={expires_at} />, and opens {brand_name} only. When the session has ended, the person needs a new one
        {provider === null ? "." : `, or signs in with ${provider}.`}
      </Text>
    </SecretDialog>
  );
}
