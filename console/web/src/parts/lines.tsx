import type { ReactNode } from "react";
import styles from "./lines.module.css";

/** A cell of several lines, one below the other. Its `span` children are quiet: smaller and dimmed. */
export const Lines = ({ children }: { readonly children: ReactNode }) => <div className={styles["lines"]}>{children}</div>;
