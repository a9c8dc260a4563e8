import type { Output } from "@brand-records/console-contract";
import { POLL_MS, useBrand, useRead } from "../../api/queries.ts";
import { Page } from "../../parts/page.tsx";
import { FormError, Notice, NotRead } from "../../parts/states.tsx";
import { Eligibility, useMayIntegrate } from "../../parts/eligibility.tsx";
import { Checklist, setUpSteps } from "./checklist.tsx";
import { ReceiverProblems } from "./receiver-problems.tsx";
import { LastDay } from "./last-day.tsx";
import { countOf } from "../../parts/formats.ts";
import { AnchorLink } from "../../parts/links.tsx";

/** What is set up, what is left to do, and what needs attention: in one call, so that nothing moves when a part comes later. */
export default function Overview() {
  const { data, error, refetch } = useRead("overview.get", {}, { refetchInterval: POLL_MS });
  return (
    <Page of="overview">
      <Eligibility />
      {data !== undefined ? (
        <>
          <FormError error={error} />
          <Sections data={data} />
        </>
      ) : (
        <NotRead error={error} refetch={refetch} />
      )}
    </Page>
  );
}

/** What needs attention stands above what goes well. */
function Sections({ data }: { readonly data: Output<"overview.get"> }) {
  const { keys, receivers, usage, plans_pending } = data;
  const { isOwner } = useBrand();
  const isEligible = useMayIntegrate();
  const steps = setUpSteps(data, isOwner, isEligible);
  const isSetUp = steps.every(({ isDone }) => isDone);
  return (
    <>
      {plans_pending !== null && plans_pending > 0 && <PlansWaiting pending={plans_pending} />}
      <ReceiverProblems receivers={receivers} />
      {!isSetUp && <Checklist steps={steps} isEligible={isEligible} />}
      {keys.length > 0 && <LastDay usage={usage} />}
      {isSetUp && <Checklist steps={steps} isEligible={isEligible} />}
    </>
  );
}

/** How many campaign plans wait for a person. */
const PlansWaiting = ({ pending }: { readonly pending: number }) => (
  <Notice>
    {countOf(pending, "campaign plan waits", "campaign plans wait")} for your team.{" "}
    <AnchorLink to="/workspaces" inherit underline="always">
      Look at {pending === 1 ? "it" : "them"}
    </AnchorLink>
  </Notice>
);
