import { useQuery } from "@tanstack/react-query";
import { query } from "../../api/queries.ts";
import { countOf } from "../../parts/counts.ts";
import { AnchorLink } from "../../parts/links.tsx";
import { Notice } from "../../parts/states.tsx";
import { useBrand } from "../../api/brand.ts";

/** How many campaign plans wait for a person. A failure shows nothing: the page's other parts have their own. */
export function PlansWaiting() {
  const { ofBrand } = useBrand();
  const { data } = useQuery(query("plans.list", { ...ofBrand, status: "pending" }));
  if (data === undefined || data.pending === 0) return null;
  return (
    <Notice>
      {countOf(data.pending, "campaign plan waits", "campaign plans wait")} for your team.{" "}
      <AnchorLink to="/workspaces" inherit underline="always">
        Look at {data.pending === 1 ? "it" : "them"}
      </AnchorLink>
    </Notice>
  );
}
