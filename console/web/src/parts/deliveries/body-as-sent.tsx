import { Button, CopyButton, Group, Text } from "@mantine/core";
import { CheckIcon, CopyIcon } from "../icons.tsx";
import { Preformatted } from "./preformatted.tsx";
import { announce } from "../status-region.tsx";

/** The body of an event's deliveries: indented to be read, copied byte for byte, so that its signature can be checked. */
export function BodyAsSent({ body }: { readonly body: string }) {
  return (
    <section aria-labelledby="body">
      <Group justify="space-between" gap="xs">
        <Text id="body" component="h2" fw={650}>
          Body
        </Text>
        <CopyButton value={body} timeout={3_000}>
          {({ copied, copy }) => (
            <Button
              size="xs"
              variant="default"
              leftSection={copied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
              title="Without the line breaks and blanks that it is shown with"
              onClick={() => {
                copy();
                announce("Copied");
              }}
            >
              {copied ? "Copied" : "Copy as sent"}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Preformatted text={indented(body)} label="Body as sent" isWhole />
    </section>
  );
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    // Shown as it was sent.
    return json;
  }
}
