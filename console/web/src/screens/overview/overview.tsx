import type { Key, Receiver } from "@brand-records/console-contract";
import { useQueries } from "@tanstack/react-query";
import { POLL_MS, query } from "../../api/queries.ts";
import { Page } from "../../parts/page.tsx";
import { ErrorState, LoadingRows } from "../../parts/states.tsx";
import { useBrand } from "../../api/brand.ts";
import { Eligibility, useMayIntegrate } from "../../parts/eligibility.tsx";
import { Checklist } from "./checklist.tsx";
import { PlansWaiting } from "./plans-waiting.tsx";
import { ReceiverProblems } from "./receiver-problems.tsx";
import { setUpSteps } from "./set-up-steps.tsx";
import { LastDay } from "./last-day.tsx";
import { useHasAccepted } from "./use-has-accepted.ts";

/** What is set up, what is left to do, and what needs attention. */
export function Overview() {
  const { ofBrand, brand_name } = useBrand();
  const [keys, receivers] = useQueries({
    queries: [
      { ...query("keys.list", ofBrand), refetchInterval: POLL_MS },
      { ...query("receivers.list", ofBrand), refetchInterval: POLL_MS },
    ],
  });
  const failed = [keys, receivers].find(({ data, error }) => data === undefined && error !== null);
  return (
    <Page title="Developers" description={`Connect your own systems to ${brand_name}’s records.`}>
      <Eligibility />
      {failed?.error ? (
        <ErrorState error={failed.error} retry={() => void failed.refetch()} />
      ) : keys.data === undefined || receivers.data === undefined ? (
        <LoadingRows />
      ) : (
        <Sections keys={keys.data.keys} receivers={receivers.data.receivers} />
      )}
    </Page>
  );
}

/** What needs attention stands above what goes well. */
function Sections({ keys, receivers }: { readonly keys: readonly Key[]; readonly receivers: readonly Receiver[] }) {
  const { isOwner } = useBrand();
  const isEligible = useMayIntegrate();
  const hasAccepted = useHasAccepted(receivers);
  if (hasAccepted === undefined) return <LoadingRows />;
  const steps = setUpSteps({ keys, receivers, hasAccepted, isOwner, isEligible });
  const isSetUp = steps.every(({ isDone }) => isDone);
  return (
    <>
      <PlansWaiting />
      <ReceiverProblems receivers={receivers} />
      {!isSetUp && <Checklist steps={steps} isEligible={isEligible} />}
      {keys.length > 0 && <LastDay />}
      {isSetUp && <Checklist steps={steps} isEligible={isEligible} />}
    </>
  );
}
