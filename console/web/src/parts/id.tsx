import styles from "./id.module.css";

const END = 6;

/** An id on one line, whole as a tooltip. */
export const Id = ({ id }: { readonly id: string }) => (
  <code className={`code ${styles["id"]}`} title={id}>
    <span>{id.slice(0, -END)}</span>
    <span>{id.slice(-END)}</span>
  </code>
);
