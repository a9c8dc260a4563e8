import type { Output } from "@brand-records/console-contract";
import type { Column } from "../../parts/rows.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { When } from "../../parts/when.tsx";
import styles from "./audit.module.css";
import { actionText, fieldsText, reasonText } from "./audit-texts.ts";
import { Subject } from "./subject.tsx";

type Entry = Output<"audit.list">["entries"][number];

/** A change takes 10 seconds at most; without an outcome after that, none was written. */
const IN_PROGRESS_MS = 60_000;

export const COLUMNS: readonly Column<Entry>[] = [
  {
    title: "Action",
    cell: ({ action, actor, subject_id, fields, role, created_at, request_id, id }) => (
      <div className={styles["stack"]}>
        <strong>{actionText(action)}</strong>
        {subject_id !== null && subject_id !== actor && (
          <span>
            <Subject id={subject_id} at={created_at} />
          </span>
        )}
        {role !== null && <span className={styles["quiet"]}>New role: {role}</span>}
        {role === null && fields.length > 0 && <span className={styles["quiet"]}>Fields: {fieldsText(fields)}</span>}
        <details>
          <summary>Details</summary>
          <dl>
            <dt>Action</dt>
            <dd>{action}</dd>
            {subject_id !== null && (
              <>
                <dt>Subject</dt>
                <dd>{subject_id}</dd>
              </>
            )}
            <dt>Time</dt>
            <dd>
              <When at={created_at} isExact />
            </dd>
            <dt>Request id</dt>
            <dd>{request_id}</dd>
            <dt>Entry</dt>
            <dd>{id}</dd>
          </dl>
        </details>
      </div>
    ),
  },
  {
    title: "Person",
    cell: ({ actor, via }) => (
      <div className={styles["stack"]}>
        <span>{actor ?? "Operator"}</span>
        {via !== null && <span className={styles["quiet"]}>through a link of {via}</span>}
      </div>
    ),
  },
  { title: "When", cell: ({ created_at }) => <When at={created_at} /> },
  { title: "Outcome", cell: (entry) => <Outcome entry={entry} /> },
  // The operator acts from a command line.
  {
    title: "Address",
    cell: ({ address, browser }) => (
      <div className={styles["stack"]}>
        <span>{address ?? <span className={styles["quiet"]}>Not recorded</span>}</span>
        {browser !== null && <span className={styles["quiet"]}>{browser}</span>}
      </div>
    ),
  },
];

function Outcome({ entry: { outcome, error_kind, created_at, tries, finished_at } }: { readonly entry: Entry }) {
  if (outcome === "done") return <StateBadge state="done" />;
  const why = error_kind === null ? "" : reasonText(error_kind);
  if (outcome === "failed") {
    return (
      <span className={styles["stack"]}>
        <span>
          <StateBadge state="failed" />
        </span>
        <span className={styles["quiet"]}>{why}</span>
        {tries > 1 && finished_at !== null && (
          <span className={styles["quiet"]}>
            {tries} times, last <When at={finished_at} />
          </span>
        )}
      </span>
    );
  }
  if (outcome === null && Date.now() - Date.parse(created_at) < IN_PROGRESS_MS) return <StateBadge state="in_progress" />;
  return (
    <span className={styles["stack"]}>
      <span>
        <StateBadge state="unknown" />
      </span>
      <span className={styles["quiet"]}>It may have been done{why && `: ${why}`}</span>
    </span>
  );
}
