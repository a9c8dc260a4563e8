import type { Plan as PlanRecord } from "@brand-records/console-contract";
import { getRouteApi, Navigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { POLL_MS, useBrand, useRead } from "../../api/queries.ts";
import { NotReadPage } from "../../shell/error-pages.tsx";
import { keepUnsaved } from "../../api/unsaved.ts";
import { loadedPart } from "../../parts/loaded-part.tsx";
import { textsOf } from "./plan-texts.ts";
import { usePlanEditing } from "./editing/use-plan-editing.ts";
import { Wizard } from "./wizard.tsx";

const ClosedPlan = loadedPart(async () => (await import("./closed-plan.tsx")).ClosedPlan);

/** One plan, where its `review_path` leads. The page of a pending one keeps itself current. */
export default function Plan() {
  const route = getRouteApi("/shell/workspaces/$type/plans/$planId");
  const { type, planId } = route.useParams();
  const search = route.useSearch();
  const { data, error, refetch } = useRead(
    "plans.get",
    { plan_id: planId },
    { refetchInterval: (read) => read?.plan.status === "pending" && POLL_MS },
  );
  if (data === undefined) return <NotReadPage of="plan" parent="plans" error={error} refetch={refetch} />;
  const { plan } = data;
  const params = { type: plan.campaign_type, planId };
  return (
    <>
      {/* The link is older than an edit of the type, or the edit was made just now. What is typed stays. */}
      {type !== plan.campaign_type && <Navigate to="/workspaces/$type/plans/$planId" params={params} search={search} replace />}
      <PlanWorkspace key={plan.id} plan={plan} />
    </>
  );
}

function PlanWorkspace({ plan: loaded }: { readonly plan: PlanRecord }) {
  const editing = usePlanEditing(loaded);
  const { plan, unsaved } = editing;
  const { brand_id } = useBrand();
  const [brandId] = useState(brand_id);
  useEffect(() => keepUnsaved(brandId, textsOf(unsaved)));
  return plan.status === "pending" ? <Wizard editing={editing} /> : <ClosedPlan plan={plan} unsaved={unsaved} />;
}
