import { countOf } from "../../parts/counts.ts";
import { AnchorLink } from "../../parts/links.tsx";
import { Notice } from "../../parts/states.tsx";

/** How many campaign plans wait for a person. */
export const PlansWaiting = ({ pending }: { readonly pending: number }) => (
  <Notice>
    {countOf(pending, "campaign plan waits", "campaign plans wait")} for your team.{" "}
    <AnchorLink to="/workspaces" inherit underline="always">
      Look at {pending === 1 ? "it" : "them"}
    </AnchorLink>
  </Notice>
);
