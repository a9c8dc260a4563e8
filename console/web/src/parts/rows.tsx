import { Stack } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./rows.module.css";

export interface Column<Row> {
  readonly title: string;
  cell(row: Row): ReactNode;
  /** Buttons: at the end, without a visible title. */
  readonly isAction?: boolean;
}

export interface RowsProps<Row> {
  /** Names the table for people who do not see where it stands. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  keyOf(row: Row): string;
  /** The key of a row that a link led to: it is scrolled to and marked. */
  readonly found?: string | undefined;
  /** More rows in sight, for a log. */
  readonly isDense?: boolean;
}

const scrollToRow = (row: HTMLTableRowElement | null): void => row?.scrollIntoView({ block: "center" });

/**
 * A table, and below 1,024 px a card for each row. A link with the class `row-link` in a cell covers its whole row. The roles repeat what
 * the elements say, because `display: block` takes their meaning away.
 */
export function Rows<Row>({ label, columns, rows, keyOf, found, isDense = false }: RowsProps<Row>) {
  return (
    <table className={`${styles["rows"]} ${isDense ? styles["dense"] : ""}`} role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, isAction }) => (
            <th key={title} role="columnheader" scope="col">
              {isAction ? <span className="visually-hidden">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row" {...(keyOf(row) === found && { ref: scrollToRow, "aria-current": true })}>
            {columns.map(({ title, cell, isAction }) => (
              <td key={title} role="cell" data-title={isAction ? undefined : title} className={isAction ? styles["action"] : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A cell of several lines, one below the other. Its `span` children are quiet: smaller and dimmed. */
export const Lines = ({ children }: { readonly children: ReactNode }) => (
  <Stack className={styles["lines"] ?? ""} gap={2} miw={0}>
    {children}
  </Stack>
);
