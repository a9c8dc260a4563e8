import { ButtonLink } from "./links.tsx";
import { useRef, type ReactNode } from "react";
import styles from "./pager.module.css";

export interface PagerProps {
  /** What the list has, for people who do not see where it stands. */
  readonly label: string;
  /** The name of the page in the URL. */
  readonly param: string;
  /** The page that shows; undefined: the first. */
  readonly page: string | undefined;
  /** Null on the last page. */
  readonly next: string | null;
  /** Another page or another filter is loading: what shows is about to change. */
  readonly isLoading?: boolean;
  readonly children: ReactNode;
}

/** One page of a list, newest first, with links to the older ones and back to the newest. Turning a page leads to the list's top. */
export function Pager({ label, param, page, next, isLoading = false, children }: PagerProps) {
  const list = useRef<HTMLElement>(null);
  const link = (text: string, to: string | undefined) => (
    <ButtonLink
      to="."
      search={(search: object) => ({ ...search, [param]: to })}
      resetScroll={false}
      variant="default"
      size="xs"
      onClick={() => {
        list.current?.focus({ preventScroll: true });
        list.current?.scrollIntoView();
      }}
    >
      {text}
    </ButtonLink>
  );
  return (
    <section ref={list} tabIndex={-1} aria-label={label} aria-busy={isLoading} className={styles["list"]}>
      {children}
      {(page !== undefined || next !== null) && (
        <nav aria-label={`Pages: ${label}`} className={styles["pages"]}>
          {page !== undefined && link("Newest", undefined)}
          {next !== null && link("Older", next)}
        </nav>
      )}
    </section>
  );
}
