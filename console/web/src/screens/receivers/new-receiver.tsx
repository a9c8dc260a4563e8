import { Button, Group, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { EVENT_TYPES } from "../../parts/event-types.ts";
import { ButtonLink, GuideLink } from "../../parts/links.tsx";
import { Page } from "../../parts/page.tsx";
import { useSecretChange, SecretDialog } from "../../parts/secret-dialog.tsx";
import { Prove } from "../../parts/receivers/prove.tsx";
import { EmptyState } from "../../parts/states.tsx";
import { ReceiverForm } from "./receiver-form.tsx";
import { useBrand } from "../../api/queries.ts";

const INITIAL = { url: "", label: "", events: EVENT_TYPES.map(({ type }) => type) };

/** Registers a receiver, then shows its signing secret once. */
export default function NewReceiver() {
  const { isOwner } = useBrand();
  const navigate = useNavigate();
  const create = useSecretChange("receivers.create", ["receivers.list"], "Receiver registered");
  const created = create.made;

  // The role may be lost while the secret shows, which cannot be had again.
  if (!isOwner && created === undefined) {
    return (
      <Page of="newReceiver" parent="receivers">
        <EmptyState title="Only owners register receivers">Ask an owner of your brand to register yours.</EmptyState>
      </Page>
    );
  }
  return (
    <Page of="newReceiver" parent="receivers">
      <ReceiverForm
        initial={INITIAL}
        error={create.error}
        unknownOutcome="It may have been registered all the same: look at your receivers. If it is there, make its next secret in its settings, as this one was not shown."
        onSubmit={({ url, label, events }, { refuse }) => create.make({ url, label, events }, refuse)}
      >
        <Group>
          <Button type="submit" loading={create.isPending}>
            Register receiver
          </Button>
          <ButtonLink variant="default" to="/developers/receivers">
            Cancel
          </ButtonLink>
        </Group>
      </ReceiverForm>
      {created !== undefined && (
        <SecretDialog
          title="Your receiver’s signing secret"
          kind="signing secret"
          secret={created.secret}
          onStored={() => void navigate({ to: "/developers/receivers/$receiverId", params: { receiverId: created.receiver.id } })}
        >
          <Text size="sm">
            Your receiver verifies each delivery with it. <GuideLink to="webhooks#verifying">The guide</GuideLink> has programs that do;
            then send a test. <Prove />
          </Text>
        </SecretDialog>
      )}
    </Page>
  );
}
