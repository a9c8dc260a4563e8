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
  /** The texts of the links back to the first page and on to the next. */
  readonly links?: readonly [first: string, next: string];
  readonly children: ReactNode;
}

export const NEWEST_FIRST = ["Newest", "Older"] as const;
/** Texts for lists in another order. */
export const IN_ORDER = ["First page", "Next page"] as const;

/** One page of a list, with links to the next and back to the first. Turning a page leads to the list's top. */
export function Pager({ label, param, page, next, isLoading = false, links = NEWEST_FIRST, children }: PagerProps) {
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
          {page !== undefined && link(links[0], undefined)}
          {next !== null && link(links[1], next)}
        </nav>
      )}
    </section>
  );
}
