import { Anchor, Button, Checkbox, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { CallError, fieldErrors } from "../../api/call.ts";
import { useChange } from "../../api/queries.ts";
import { EVENT_TYPES } from "../../parts/event-types.ts";
import { ButtonLink } from "../../parts/links.tsx";
import { Page } from "../../parts/page.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { FormError, Notice } from "../../parts/states.tsx";
import { announce } from "../../parts/status-region.tsx";
import { useBrand } from "../../shell/brand.tsx";
import { ReceiversLink } from "./receivers-link.tsx";

/** Registers a receiver, then shows its signing secret once. */
export function NewReceiver() {
  const { ofBrand } = useBrand();
  const navigate = useNavigate();
  // Here alone: a secret in a cache would outlive its dialog.
  const [created, setCreated] = useState<{ readonly secret: string; readonly receiverId: string }>();
  const create = useChange("receivers.create", ["receivers.list"]);
  const form = useForm({ mode: "uncontrolled", initialValues: { url: "", label: "", events: EVENT_TYPES.map(({ type }) => type) } });

  const submit = form.onSubmit((values) =>
    create.mutate(
      { ...ofBrand, ...values },
      {
        onSuccess: ({ receiver, secret }) => {
          setCreated({ secret, receiverId: receiver.id });
          announce("Receiver registered");
          create.reset();
        },
        onError: (error) => form.setErrors(errorsOf(error)),
      },
    ),
  );

  return (
    <Page title="Register a receiver" parent={<ReceiversLink />}>
      <form onSubmit={submit} noValidate>
        <Stack maw={560}>
          <TextInput
            key={form.key("url")}
            {...form.getInputProps("url")}
            label="URL"
            description="A public HTTPS address that responds with 2xx. Not an incoming webhook of Slack, Discord, Teams or Google Chat."
            placeholder="https://hooks.example.com/brand-records"
            type="url"
            required
            autoComplete="off"
          />
          <TextInput
            key={form.key("label")}
            {...form.getInputProps("label")}
            label="Label"
            description="How your team recognizes it, such as “Warehouse”"
            required
            autoComplete="off"
          />
          <Checkbox.Group key={form.key("events")} {...form.getInputProps("events")} label="Events" required>
            <Stack gap="xs" mt="xs">
              {EVENT_TYPES.map(({ type, text }) => (
                <Checkbox key={type} value={type} label={text} description={type} />
              ))}
            </Stack>
          </Checkbox.Group>
          {create.error instanceof CallError && create.error.code === "chat_webhook" && <ChatRelay />}
          <FormError error={create.error} fields={["url", "label", "events"]} />
          <Group>
            <Button type="submit" loading={create.isPending}>
              Register receiver
            </Button>
            <ButtonLink variant="default" to="/developers/receivers">
              Cancel
            </ButtonLink>
          </Group>
        </Stack>
      </form>
      {created !== undefined && (
        <SecretDialog
          title="Your receiver’s signing secret"
          kind="signing secret"
          secret={created.secret}
          onStored={() => void navigate({ to: "/developers/receivers/$receiverId", params: { receiverId: created.receiverId } })}
        >
          <Text size="sm">
            Your receiver verifies each delivery with it. The <Anchor href="/docs">reference</Anchor> has the headers; then send a test.
          </Text>
        </SecretDialog>
      )}
    </Page>
  );
}

/** Some refusals name no field, but are about the URL. */
function errorsOf(error: unknown): Record<string, string> {
  const aboutUrl = ["not_https", "private_address", "chat_webhook", "duplicate_url"];
  if (error instanceof CallError && aboutUrl.includes(error.code)) return { url: error.message.replace(/^url /, "The URL ") };
  return fieldErrors(error);
}

const ChatRelay = () => (
  <Notice>
    A relay to run yourself is in <code>examples/relay</code> of this service’s repository. Register the relay’s own address here.
  </Notice>
);
