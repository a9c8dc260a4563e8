import { Button, Group, Text } from "@mantine/core";
import { NotCopied } from "../copyable.tsx";
import { CheckIcon, CopyIcon } from "../icons.tsx";
import { Preformatted } from "./preformatted.tsx";
import { useCopy } from "../use-copy.ts";

/** The body of an event's deliveries: indented to be read, copied byte for byte, so that its signature can be checked. */
export function BodyAsSent({ body }: { readonly body: string }) {
  const { isCopied, isRefused, copy } = useCopy(body);
  return (
    <section aria-labelledby="body">
      <Group justify="space-between" gap="xs">
        <Text id="body" component="h2" fw={650}>
          Body
        </Text>
        <Button
          size="xs"
          variant="default"
          leftSection={isCopied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
          title="Without the line breaks and blanks that it is shown with"
          onClick={copy}
        >
          {isCopied ? "Copied" : "Copy as sent"}
        </Button>
      </Group>
      {isRefused && <NotCopied />}
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
