import type { Output, Key, PlanSummary, Receiver } from "@brand-records/console-contract";
import { linkOptions, type LinkProps } from "@tanstack/react-router";
import { Breakable } from "../../parts/breakable.tsx";
import { CopyableId } from "../../parts/copyable.tsx";
import { visibleControls } from "../../parts/formats.ts";
import { Id } from "../../parts/id.tsx";
import { Lines, type Column } from "../../parts/rows.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { When } from "../../parts/when.tsx";
import styles from "./audit.module.css";
import { actionText, fieldsText, reasonText } from "./audit-texts.ts";
import { AnchorLink } from "../../parts/links.tsx";
import { useBrand } from "../../api/queries.ts";

type Entry = Output<"audit.list">["entries"][number];

export const columns = (names: SubjectNames): readonly Column<Entry>[] => [
  {
    title: "Action",
    cell: ({ action, actor, subject_id, fields, role, created_at, request_id, id }) => (
      <div className={styles["action"]}>
        <strong>{actionText(action)}</strong>
        {subject_id !== null && subject_id !== actor && <Subject id={subject_id} at={created_at} names={names} />}
        {role !== null && <small>New role: {role}</small>}
        {role === null && fields.length > 0 && <small>Fields: {fieldsText(fields)}</small>}
        <details className={styles["details"]}>
          <summary>Details</summary>
          <dl>
            <dt>Action</dt>
            <dd>{action}</dd>
            {subject_id !== null && (
              <>
                <dt>Subject</dt>
                <dd>
                  <CopyableId id={subject_id} label="subject’s id" />
                </dd>
              </>
            )}
            <dt>Time</dt>
            <dd>
              <When at={created_at} isExact />
            </dd>
            <dt>Request id</dt>
            <dd>
              <CopyableId id={request_id} label="request id" />
            </dd>
            <dt>Entry</dt>
            <dd>
              <CopyableId id={id} label="entry’s id" />
            </dd>
          </dl>
        </details>
      </div>
    ),
  },
  {
    title: "Person",
    cell: ({ actor, via }) => (
      <Lines>
        <div>
          <Breakable of={actor ?? "Operator"} />
        </div>
        {via !== null && (
          <span>
            through a link of <Breakable of={via} />
          </span>
        )}
      </Lines>
    ),
  },
  { title: "When", cell: ({ created_at }) => <When at={created_at} /> },
  { title: "Outcome", cell: (entry) => <Outcome entry={entry} /> },
  // The operator acts from a command line.
  {
    title: "Address",
    cell: ({ address, browser }) => (
      <Lines>
        {address === null ? <span>Not recorded</span> : <div>{address}</div>}
        {browser !== null && <span>{browser}</span>}
      </Lines>
    ),
  },
];

function Outcome({ entry: { outcome, error_kind, tries, finished_at } }: { readonly entry: Entry }) {
  if (outcome === "done") return <StateBadge state="done" />;
  const why = error_kind === null ? "" : reasonText(error_kind);
  return (
    <Lines>
      <div>
        {/* Some entries of 1.0 do not say how it ended. */}
        <StateBadge state={outcome === "failed" ? "failed" : "unknown"} />
      </div>
      <span>{why}</span>
      {tries > 1 && finished_at !== null && (
        <span>
          {tries} times, last <When at={finished_at} />
        </span>
      )}
    </Lines>
  );
}

const KEEP_MS = 30 * 24 * 3_600_000;

/** Names of the keys, the receivers and the newest plans of the brand. Ids show in place of names that could not be read. */
interface SubjectNames {
  readonly keys: ReadonlyMap<string, Key>;
  readonly plans: ReadonlyMap<string, PlanSummary>;
  /** Undefined until they are read: one that is missing is no deleted one then. */
  readonly receivers: ReadonlyMap<string, Receiver> | undefined;
}

interface SubjectProps {
  readonly id: string;
  /** When something was done to it. */
  readonly at: string;
  readonly names: SubjectNames;
}

/** What an entry is about, with a link if it still has a page. */
function Subject({ id, at, names: { keys, receivers, plans } }: SubjectProps) {
  const { brand_id, brand_name } = useBrand();
  const [kind] = id.split("_");
  const name = kind === "rcv" ? receivers?.get(id)?.label : visibleControls(plans.get(id)?.title ?? "") || keys.get(id)?.name;
  const shown = name === undefined ? <Id id={id} /> : <Breakable of={name} />;
  const link = (leadsTo: Pick<LinkProps, "to" | "params" | "search">) => (
    <AnchorLink {...leadsTo} inherit>
      {shown} {kind === "key" && <code className="code">{keys.get(id)?.hint}</code>}
    </AnchorLink>
  );
  if (id === brand_id) return brand_name;
  if (id.includes("@")) return <Breakable of={id} />;
  // The plan's own type takes the place of one that is not known.
  const type = plans.get(id)?.campaign_type ?? "ugc";
  if (kind === "pln") return link(linkOptions({ to: "/workspaces/$type/plans/$planId", params: { type, planId: id }, search: {} }));
  if (kind === "key" && name !== undefined) return link(linkOptions({ to: "/developers/keys" }));
  if (kind === "rcv" && name !== undefined)
    return link(linkOptions({ to: "/developers/receivers/$receiverId", params: { receiverId: id } }));
  if (kind === "rcv" && receivers !== undefined) return <>{shown} (deleted)</>;
  // A delivery is stored no longer than its event.
  if (kind !== "dlv" || Date.now() - Date.parse(at) > KEEP_MS) return shown;
  return link(linkOptions({ to: "/developers/deliveries/$deliveryId", params: { deliveryId: id } }));
}
