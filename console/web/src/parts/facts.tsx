import type { ReactNode } from "react";
import styles from "./facts.module.css";

/** Names and values beside each other; one below the other on a narrow screen. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode] | false)[] }) {
  return (
    <dl className={`${styles["facts"]} framed`}>
      {facts
        .filter((fact) => fact !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
