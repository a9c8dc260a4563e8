import type { Output } from "@brand-records/console-contract";
import { getRouteApi } from "@tanstack/react-router";
import { CallError } from "../../api/call.ts";
import { pollFirst, useBrand, useMe, useRead } from "../../api/queries.ts";
import { choice } from "../../parts/filters/choice.ts";
import { instantsOf } from "../../parts/filters/days.ts";
import { FilterBar, isFiltered, type Filter } from "../../parts/filters/filter-bar.tsx";
import { Page } from "../../parts/page.tsx";
import { PagedRows } from "../../parts/paged-rows.tsx";
import { EmptyState } from "../../parts/states.tsx";
import { columns } from "./audit-columns.tsx";
import { ACTIONS, KINDS } from "./audit-texts.ts";

const OPERATOR = "operator";

const filtersFor = (people: readonly string[]): readonly Filter[] => [
  {
    kind: "text",
    name: "actor",
    label: "Person",
    placeholder: "E-mail address, or operator",
    pattern: /^(operator|erased_[0-9a-z]{26}|[^\s@]+@[^\s@]+)$/i,
    problem: "Enter a whole e-mail address, or operator.",
    suggestions: people,
  },
  choice("action", "Action", "All actions", Object.entries({ ...KINDS, ...ACTIONS }), (action) => action),
  { kind: "days" },
];

/** Who changed what, newest first. To a member it says why it shows nothing. */
export default function Audit() {
  const { isOwner } = useBrand();
  return <Page of="audit">{isOwner ? <AuditLog /> : <OwnersOnly />}</Page>;
}

const OwnersOnly = () => (
  <EmptyState title="Only owners see the audit log">
    It names people and the addresses that they acted from. Ask an owner of your brand for what you need from it.
  </EmptyState>
);

function AuditLog() {
  const { email } = useMe();
  const { page, ...filters } = getRouteApi("/shell/developers/audit").useSearch();
  const { actor, action, from, to } = filters;
  const result = useRead(
    "audit.list",
    { actor: actor?.toLowerCase(), action, ...instantsOf({ from, to }), page_token: page },
    { scope: {}, refetchInterval: pollFirst(page) },
  );
  const receivers = useRead("receivers.list", {}).data?.receivers;
  const plans = useRead("plans.list", {}).data?.plans;
  // The person was an owner when the page began.
  if (result.data === undefined && result.error instanceof CallError && result.error.code === "owner_required") return <OwnersOnly />;
  const all = filtersFor(peopleOf(result.data, email));
  return (
    <>
      <FilterBar filters={all} values={filters} />
      <PagedRows
        label="Entries"
        result={result}
        rowsOf={({ entries }) => entries}
        nextOf={({ next_page_token }) => next_page_token}
        page={page}
        isFiltered={isFiltered(all, filters)}
        none={
          <EmptyState title="No entries yet">
            The first change shows here, such as a key that an owner creates. What was changed before this log existed is not in it.
          </EmptyState>
        }
        columns={columns({ keys: byId(result.data?.keys ?? []), receivers: receivers && byId(receivers), plans: byId(plans ?? []) })}
        isDense
        keyOf={({ id }) => id}
      />
    </>
  );
}

/** Whom the filter offers: the person, the operator, and who is on the page. */
const peopleOf = (data: Output<"audit.list"> | undefined, email: string): string[] => [
  ...new Set([email, OPERATOR, ...(data?.entries.map(({ actor }) => actor ?? OPERATOR) ?? [])]),
];

const byId = <Named extends { readonly id: string }>(all: readonly Named[]) => new Map(all.map((one) => [one.id, one]));
