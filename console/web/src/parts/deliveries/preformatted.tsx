import styles from "./preformatted.module.css";

/** Text from outside: shown as text, whatever it holds. It scrolls, so the keyboard must reach it. */
export const Preformatted = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <pre className={styles["text"]} tabIndex={0} role="region" aria-label={label}>
    {text}
  </pre>
);
