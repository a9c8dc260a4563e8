import { Text } from "@mantine/core";
import { CopyableText } from "../../parts/copyable.tsx";
import type { UnsavedTexts } from "../../shell/unsaved.ts";
import styles from "./plans.module.css";

/** What can no longer be saved, to be copied. */
export const UnsavedText = ({ texts, reason }: { readonly texts: UnsavedTexts; readonly reason: string }) => (
  <section className={styles["panel"]} aria-labelledby="unsaved">
    <div>
      <Text id="unsaved" component="h2" fw={650} fz="1.125rem">
        What you had not saved
      </Text>
      <Text size="sm" c="dimmed">
        {reason} Copy what you still need: it is kept on this page only.
      </Text>
    </div>
    <CopyableTexts texts={texts} />
  </section>
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
