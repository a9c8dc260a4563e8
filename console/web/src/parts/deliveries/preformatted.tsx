import styles from "./preformatted.module.css";

export interface PreformattedProps {
  readonly text: string;
  readonly label: string;
  /** For texts of a known, small size. Default: it scrolls from 24 rem on. */
  readonly isWhole?: boolean;
}

/** Text from outside: shown as text, whatever it holds. It may scroll, so the keyboard must reach it. */
export const Preformatted = ({ text, label, isWhole = false }: PreformattedProps) => (
  <pre className={`${styles["text"]} ${isWhole ? styles["whole"] : ""}`} tabIndex={0} role="region" aria-label={label}>
    {text}
  </pre>
);
