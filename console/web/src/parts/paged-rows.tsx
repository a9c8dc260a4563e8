import { Group } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { ButtonLink } from "./links.tsx";
import { CallError } from "../api/call.ts";
import { Rows, type RowsProps } from "./rows.tsx";
import { EmptyState, FormError, NotRead } from "./states.tsx";
import styles from "./pager.module.css";

interface PagerProps {
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
  /** The texts of the links back to the first page, to the one before, and on to the next. */
  readonly links?: readonly [first: string, before: string, next: string];
  readonly children: ReactNode;
}

const NEWEST_FIRST = ["Newest", "Newer", "Older"] as const;
/** Texts for lists in another order. */
export const IN_ORDER = ["First page", "Previous page", "Next page"] as const;

/** The page before each that a list has led to; undefined: the first. Cursors lead forward alone, so others are not known. */
const pagesBefore = new Map<string, string | undefined>();

/** One page of a list, with links to the next, to the one before and back to the first. Turning a page leads to the list's top. */
export function Pager({ label, param, page, next, isLoading = false, links = NEWEST_FIRST, children }: PagerProps) {
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    // What shows while another page loads does not lead to it.
    if (next !== null && !isLoading) pagesBefore.set(`${label} ${next}`, page);
  }, [label, page, next, isLoading]);
  const link = (text: string, to: string | undefined) => (
    <SmallLink
      search={(search) => ({ ...search, [param]: to })}
      resetScroll={false}
      onClick={() => {
        list.current?.focus({ preventScroll: true });
        list.current?.scrollIntoView();
      }}
    >
      {text}
    </SmallLink>
  );
  return (
    <section ref={list} tabIndex={-1} aria-label={label} aria-busy={isLoading} className={styles["list"]}>
      {children}
      {(page !== undefined || next !== null) && (
        <Group component="nav" aria-label={`Pages: ${label}`} gap="var(--space-8)" mt="sm">
          {page !== undefined && link(links[0], undefined)}
          {pagesBefore.has(`${label} ${page}`) && link(links[1], pagesBefore.get(`${label} ${page}`))}
          {next !== null && link(links[2], next)}
        </Group>
      )}
    </section>
  );
}

interface PagedRowsProps<Row, Data> extends Omit<RowsProps<Row>, "rows"> {
  /** What useQuery returned. */
  readonly result: {
    readonly data: Data | undefined;
    readonly error: Error | null;
    readonly isPlaceholderData: boolean;
    refetch(): unknown;
  };
  rowsOf(data: Data): readonly Row[];
  /** Null on the last page. */
  nextOf(data: Data): string | null;
  /** The name of the page in the URL. Default: `page`. */
  readonly param?: string;
  /** The page that shows; undefined: the first. */
  readonly page: string | undefined;
  readonly isFiltered: boolean;
  readonly links?: PagerProps["links"];
  /** Shown if there is nothing at all: says what makes the first row. */
  readonly none: ReactNode;
}

/** One page of a filtered list in each of its states: loading, failed, empty for its three reasons, filled. */
export function PagedRows<Row, Data>(props: PagedRowsProps<Row, Data>) {
  const { result, rowsOf, nextOf, param = "page", page, isFiltered, links = NEWEST_FIRST, none, label, columns, keyOf, isDense } = props;
  const { data, error, isPlaceholderData, refetch } = result;
  if (data === undefined) return <NotLoaded error={error} refetch={refetch} param={param} first={links[0]} />;
  const rows = rowsOf(data);
  if (rows.length === 0 && page === undefined) return isFiltered ? <NoMatch what={label.toLowerCase()} /> : none;
  return (
    <Pager label={label} param={param} page={page} next={nextOf(data)} isLoading={isPlaceholderData} links={links}>
      {rows.length === 0 ? (
        // A full last page does not know that it is the last.
        <EmptyState title={links === NEWEST_FIRST ? "Nothing older" : "Nothing more"}>The page before was the last.</EmptyState>
      ) : (
        <Rows label={label} columns={columns} rows={rows} keyOf={keyOf} {...(isDense && { isDense })} />
      )}
      <FormError error={error} />
    </Pager>
  );
}

interface NotLoadedProps {
  readonly error: Error | null;
  refetch(): unknown;
  /** The search parameter of the page, and the label of the link to the first. */
  readonly param: string;
  readonly first: string;
}

/** A page of a list without its data: it loads, has failed, or does not exist. */
export function NotLoaded({ error, refetch, param, first }: NotLoadedProps) {
  if (error !== null && isCursorError(error)) return <NoSuchPage param={param} first={first} />;
  return <NotRead error={error} refetch={refetch} />;
}

/** An edited link, or one that was made with other filters. */
const isCursorError = (error: Error): boolean =>
  error instanceof CallError &&
  (error.code === "invalid_cursor" || error.details.some(({ field }) => /^(page_token|after_id)$/.test(field)));

interface SmallLinkProps {
  readonly children: string;
  readonly resetScroll?: boolean;
  search(search: object): object;
  onClick?(): void;
}

/** Leads to another part or filter of the page. */
const SmallLink = (props: SmallLinkProps) => <ButtonLink {...props} to="." variant="default" size="xs" />;

const NoMatch = ({ what }: { readonly what: string }) => (
  <EmptyState title={`No ${what} match these filters`} action={<SmallLink search={() => ({})}>Clear filters</SmallLink>}>
    Choose other filters, or clear them to see everything.
  </EmptyState>
);

const NoSuchPage = ({ param, first }: { readonly param: string; readonly first: string }) => (
  <EmptyState
    title="This page of the list does not exist"
    action={<SmallLink search={(search) => ({ ...search, [param]: undefined })}>{first}</SmallLink>}
  >
    The link belongs to a list with other filters, or it is incomplete.
  </EmptyState>
);
