import { ButtonLink } from "./links.tsx";
import type { ReactNode } from "react";
import { CallError } from "../api/call.ts";
import { NEWEST_FIRST, Pager, type PagerProps } from "./pager.tsx";
import { Rows, type RowsProps } from "./rows.tsx";
import { EmptyState, ErrorState, FormError, LoadingRows } from "./states.tsx";

export interface PagedRowsProps<Row, Data> extends Omit<RowsProps<Row>, "rows"> {
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
  const { result, rowsOf, nextOf, param = "page", page, isFiltered, links = NEWEST_FIRST, none, label, columns, keyOf } = props;
  const { data, error, isPlaceholderData, refetch } = result;
  if (data === undefined) return <NotLoaded error={error} retry={() => void refetch()} param={param} first={links[0]} />;
  const rows = rowsOf(data);
  if (rows.length === 0 && page === undefined) return isFiltered ? <NoMatch what={label.toLowerCase()} /> : none;
  return (
    <Pager label={label} param={param} page={page} next={nextOf(data)} isLoading={isPlaceholderData} links={links}>
      {rows.length === 0 ? (
        // A full last page does not know that it is the last.
        <EmptyState title={links === NEWEST_FIRST ? "Nothing older" : "Nothing more"}>The page before was the last.</EmptyState>
      ) : (
        <Rows label={label} columns={columns} rows={rows} keyOf={keyOf} />
      )}
      <FormError error={error} />
    </Pager>
  );
}

interface NotLoadedProps {
  readonly error: Error | null;
  retry(): void;
  /** The search parameter of the page, and the label of the link to the first. */
  readonly param: string;
  readonly first: string;
}

/** A page of a list without its data: it loads, has failed, or does not exist. */
export function NotLoaded({ error, retry, param, first }: NotLoadedProps) {
  if (error === null) return <LoadingRows />;
  return isCursorError(error) ? <NoSuchPage param={param} first={first} /> : <ErrorState error={error} retry={retry} />;
}

/** An edited link, or one that was made with other filters. */
const isCursorError = (error: Error): boolean =>
  error instanceof CallError &&
  (error.code === "invalid_cursor" || error.details.some(({ field }) => /^(page_token|after_id)$/.test(field)));

const NoMatch = ({ what }: { readonly what: string }) => (
  <EmptyState
    title={`No ${what} match these filters`}
    action={
      <ButtonLink to="." search={{}} variant="default" size="xs">
        Clear filters
      </ButtonLink>
    }
  >
    Choose other filters, or clear them to see everything.
  </EmptyState>
);

const NoSuchPage = ({ param, first }: { readonly param: string; readonly first: string }) => (
  <EmptyState
    title="This page of the list does not exist"
    action={
      <ButtonLink to="." search={(search: object) => ({ ...search, [param]: undefined })} variant="default" size="xs">
        {first}
      </ButtonLink>
    }
  >
    The link belongs to a list with other filters, or it is incomplete.
  </EmptyState>
);
