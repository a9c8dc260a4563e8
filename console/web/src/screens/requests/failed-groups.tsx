import type { Key } from "@brand-records/console-contract";
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { CopyableId } from "../../parts/copyable.tsx";
import { KeyName } from "../../parts/key-name.tsx";
import { Lines } from "../../parts/lines.tsx";
import { Rows, type Column } from "../../parts/rows.tsx";
import { When } from "../../parts/when.tsx";
import styles from "./failed-groups.module.css";
import { fieldText, routeText, searchFor, type FailedGroup, type FailedSearch } from "./failed-search.ts";

export interface FailedGroupsProps {
  readonly groups: readonly FailedGroup[];
  readonly keys: readonly Key[];
  readonly search: FailedSearch;
}

/** Requests that failed in the same way, the most frequent first. Each leads to its own counts. */
export const FailedGroups = ({ groups, keys, search }: FailedGroupsProps) => (
  <Rows
    label="Failed requests"
    columns={columns(search, new Map(keys.map((key) => [key.id, key])))}
    rows={groups}
    keyOf={({ key_id, route, code, field }) => [key_id, route, code, field].join(" ")}
  />
);

const columns = (search: FailedSearch, keys: ReadonlyMap<string, Key>): Column<FailedGroup>[] => [
  {
    title: "Error",
    cell: (group) => (
      <Lines>
        <Link className={`row-link ${styles["name"]}`} to="/developers/requests" search={searchFor(search, group)}>
          <Parts of={group.code} />
        </Link>
        <span>{fieldText(group.field)}</span>
      </Lines>
    ),
  },
  {
    title: "Request",
    cell: ({ route }) => {
      const { name, of } = routeText(route);
      return (
        <Lines>
          <code className={styles["name"]}>
            <Parts of={name} />
          </code>
          {of !== undefined && <span>{of}</span>}
        </Lines>
      );
    },
  },
  { title: "Key", cell: ({ key_id }) => <KeyName id={key_id} found={keys.get(key_id)} /> },
  { title: "Requests", cell: ({ requests }) => requests.toLocaleString("en-PH") },
  { title: "Last", cell: ({ last_at }) => <When at={last_at} /> },
  { title: "Request ids", isAction: true, cell: ({ request_ids }) => <RequestIds ids={request_ids} /> },
];

/** A name that may break behind each _ and before each /. */
const Parts = ({ of }: { readonly of: string }) =>
  of.split(/(?<=_)|(?=\/)/).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));

/** The last one, and the others folded away. */
function RequestIds({ ids }: { readonly ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <details>
      <summary>{ids.length === 1 ? "Request id" : `Last ${ids.length} request ids`}</summary>
      {ids.map((id) => (
        <div key={id}>
          <CopyableId id={id} label={`request id ${id}`} />
        </div>
      ))}
    </details>
  );
}
