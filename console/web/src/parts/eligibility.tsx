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
  const ask = isOwner ? "" : " Ask an owner of your brand.";
  return (
    <Notice tone="warning">
      {tier === "starter" && (
        <div>
          <strong>{brand_name} is on the Starter plan.</strong> Integrations need Plus, Pro or Enterprise: existing keys are refused until
          the plan is changed.{ask}
        </div>
      )}
      {!verified && (
        <div>
          <strong>{brand_name} is not verified.</strong> Integrations work once the brand’s verification is complete.{ask}
        </div>
      )}
    </Notice>
  );
}
