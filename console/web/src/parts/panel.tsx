import type { ReactNode } from "react";
import styles from "./panel.module.css";

/** What stands in a frame of its own, one thing below the other. */
export const Panel = ({ children, labelledBy }: { readonly children: ReactNode; readonly labelledBy?: string }) => (
  <section className={styles["panel"]} aria-labelledby={labelledBy}>
    {children}
  </section>
);
