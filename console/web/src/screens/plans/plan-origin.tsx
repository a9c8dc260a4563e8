import type { Plan } from "@brand-records/console-contract";
import { When } from "../../parts/when.tsx";
import { useMe } from "../../api/queries.ts";

/** Which integration prepared a plan, and who edited it last. */
export function PlanOrigin({ plan: { prepared_by, created_at, edited_by, edited_at } }: { readonly plan: Plan }) {
  const { email } = useMe();
  return (
    <>
      <span className="breakable" style={{ display: "inline-block" }}>
        Prepared by <strong>{prepared_by === null ? "an integration" : <bdi>{prepared_by}</bdi>}</strong>, <When at={created_at} />.
      </span>{" "}
      {edited_at !== null && (
        <span className="breakable" style={{ display: "inline-block" }}>
          Last edited by {edited_by === email ? "you" : edited_by}, <When at={edited_at} isBrief />.
        </span>
      )}
    </>
  );
}
