import type { PlanSummary } from "@brand-records/console-contract";
import { Group, Text } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { pollFirst, useRead } from "../../../api/queries.ts";
import { dayText } from "../../../parts/filters/days.ts";
import { AnchorLink } from "../../../parts/links.tsx";
import { Page } from "../../../parts/page.tsx";
import { PagedRows } from "../../../parts/paged-rows.tsx";
import { Pesos } from "../../../parts/pesos.tsx";
import { Breakable } from "../../../parts/breakable.tsx";
import { Lines, type Column } from "../../../parts/rows.tsx";
import { StateBadge } from "../../../parts/state-badge.tsx";
import { EmptyState, Notice } from "../../../parts/states.tsx";
import { When } from "../../../parts/when.tsx";
import { PLAN_FILTERS, type PlanFilter } from "../plan-pages.ts";
import { typeName } from "../plan-texts.ts";
import { visibleControls } from "../../../parts/formats.ts";
import styles from "../../../parts/ranges.module.css";

/** The brand's campaign plans, newest first: those that wait for a person, unless the URL names another state. */
export default function PlanList() {
  const { status = "pending", page } = getRouteApi("/shell/workspaces").useSearch();
  const result = useRead(
    "plans.list",
    { ...(status !== "all" && { status }), after_id: page },
    { scope: {}, refetchInterval: pollFirst(page) },
  );
  const { data } = result;
  return (
    <Page of="plans">
      <Group justify="space-between" gap="var(--space-8) var(--space-16)">
        <nav aria-label="State of the plans" className={styles["ranges"]}>
          {PLAN_FILTERS.map(({ filter, text }) => (
            <Link
              key={filter}
              to="/workspaces"
              search={filter === "pending" ? {} : { status: filter }}
              // The address without a status is a part of the others.
              activeOptions={{ exact: true }}
              aria-current={filter === status ? "page" : undefined}
            >
              {text}
            </Link>
          ))}
        </nav>
        {data !== undefined && (
          <Text span fz="sm" c="dimmed" lh={1.55} style={{ whiteSpace: "nowrap", fontVariantNumeric: "tabular-nums" }}>
            {data.pending} of {data.pending_max} pending
          </Text>
        )}
      </Group>
      {data !== undefined && data.pending >= data.pending_max && (
        <Notice tone="waiting">
          <strong>Integrations can prepare no more plans.</strong> {data.pending_max} are pending, which is the limit. Complete or cancel
          some, and the next request succeeds.
        </Notice>
      )}
      <PagedRows
        label="Campaign plans"
        result={result}
        rowsOf={({ plans }) => plans}
        nextOf={({ next_after_id }) => next_after_id}
        page={page}
        isFiltered={false}
        none={
          <EmptyState title={NONE[status]} action={<AnchorLink to="/developers/assistants">Connect an assistant</AnchorLink>}>
            A plan gets here when an integration prepares one, with a key that may prepare campaign plans.
          </EmptyState>
        }
        columns={COLUMNS[status]}
        keyOf={({ id }) => id}
      />
    </Page>
  );
}

const NONE: Readonly<Record<PlanFilter, string>> = {
  pending: "No plans are waiting",
  completed: "No plan is completed yet",
  cancelled: "No plan is cancelled",
  all: "No plans yet",
};

const PLAN: Column<PlanSummary> = {
  title: "Plan",
  cell: ({ id, title, campaign_type }) => (
    <Lines>
      <Link className="row-link" to="/workspaces/$type/plans/$planId" params={{ type: campaign_type, planId: id }} search={{}} dir="auto">
        <Breakable of={visibleControls(title)} />
      </Link>
      <span>{typeName(campaign_type)}</span>
    </Lines>
  ),
};
const STATUS: Column<PlanSummary> = {
  title: "Status",
  cell: ({ status }) => (status === "pending" ? <StateBadge state="pending" text="Pending" /> : <StateBadge state={status} />),
};
const BUDGET: Column<PlanSummary> = {
  title: "Budget",
  cell: ({ planning_budget_centavos }) => (
    <span style={{ whiteSpace: "nowrap" }}>
      <Pesos centavos={planning_budget_centavos} />
    </span>
  ),
};
const PLANNED: Column<PlanSummary> = {
  title: "Planned for",
  cell: ({ planned_for }) => <time dateTime={planned_for}>{dayText(planned_for)}</time>,
};
const PREPARED: Column<PlanSummary> = {
  title: "Prepared",
  cell: ({ prepared_by, created_at }) => (
    <Lines>
      <When at={created_at} />
      {prepared_by !== null && <Breakable of={prepared_by} />}
    </Lines>
  ),
};
const closed = (title: string): Column<PlanSummary> => ({
  title,
  cell: ({ closed_at, closed_by }) =>
    closed_at !== null && (
      <Lines>
        <When at={closed_at} />
        {closed_by !== null && <Breakable of={closed_by} />}
      </Lines>
    ),
});

const COLUMNS: Readonly<Record<PlanFilter, readonly Column<PlanSummary>[]>> = {
  pending: [PLAN, BUDGET, PLANNED, PREPARED],
  completed: [PLAN, BUDGET, PLANNED, PREPARED, closed("Completed")],
  cancelled: [PLAN, BUDGET, PLANNED, PREPARED, closed("Cancelled")],
  all: [PLAN, STATUS, BUDGET, PLANNED, PREPARED],
};
