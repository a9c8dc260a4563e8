import { Notice } from "./states.tsx";
import { useBrand } from "../api/queries.ts";

/** Whether the brand may have working keys: it is verified and has Plus or above. */
export function useMayIntegrate(): boolean {
  const { tier, verified } = useBrand();
  return verified && tier !== "starter";
}

/** Says why a brand may not integrate, and what to do. */
export function Eligibility() {
  const { brand_name, tier, verified, isOwner } = useBrand();
  if (useMayIntegrate()) return null;
  const ask = isOwner ? "Ask the operator of this service to" : "Ask an owner of your brand to have the operator of this service";
  return (
    <Notice tone="waiting">
      {tier === "starter" && (
        <div>
          <strong>{brand_name} is on the Starter plan.</strong> Integrations need Plus, Pro or Enterprise: existing keys are refused until
          the plan is changed. {ask} change it.
        </div>
      )}
      {!verified && (
        <div>
          <strong>{brand_name} is not verified.</strong> The operator of this service verifies brands, and integrations work from then on.{" "}
          {ask} verify it, and say which company the brand belongs to.
        </div>
      )}
    </Notice>
  );
}
