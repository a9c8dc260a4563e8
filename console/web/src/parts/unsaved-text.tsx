import { Text } from "@mantine/core";
import { CopyableText } from "./copyable.tsx";
import type { UnsavedTexts } from "../api/unsaved.ts";
import { Panel } from "./page.tsx";

/** What can no longer be saved, to be copied. */
export const UnsavedText = ({ texts, reason }: { readonly texts: UnsavedTexts; readonly reason: string }) => (
  <Panel labelledBy="unsaved">
    <div>
      <Text id="unsaved" component="h2" fw={650} fz="var(--size-title)">
        What you had not saved
      </Text>
      <Text size="sm" c="dimmed">
        {reason} Copy what you still need: it is kept on this page only.
      </Text>
    </div>
    <CopyableTexts texts={texts} />
  </Panel>
);

export const CopyableTexts = ({ texts }: { readonly texts: UnsavedTexts }) =>
  Object.entries(texts).map(([name, text]) => (
    <div key={name}>
      <Text size="sm" fw={550} mb={4}>
        {name}
      </Text>
      <CopyableText text={text} label={name} />
    </div>
  ));
