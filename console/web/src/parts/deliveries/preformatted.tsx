import styles from "./preformatted.module.css";

export interface PreformattedProps {
  readonly text: string;
  readonly label: string;
  /** Shows all of it, for texts of a known, small size. By default it scrolls beyond 24 rem. */
  readonly isWhole?: boolean;
}

/** Text from outside: shown as text, whatever it holds. It may scroll, so the keyboard must reach it. */
export const Preformatted = ({ text, label, isWhole = false }: PreformattedProps) => (
  <pre className={`${styles["text"]} ${isWhole ? styles["whole"] : ""}`} tabIndex={0} role="region" aria-label={label}>
    {text}
  </pre>
);
