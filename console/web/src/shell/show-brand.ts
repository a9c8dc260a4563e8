import { useLocation, useRouter } from "@tanstack/react-router";
import { useMe } from "../api/brand.ts";
import { chooseBrand } from "../api/tab.ts";
import { announce } from "../parts/status-region.tsx";
import { AREAS } from "./places.ts";

const LISTS = AREAS.flatMap(({ places }) => places.map(({ to }) => to)).filter((to) => to !== "/developers");

/** Returns what shows another of the person's brands, on the list that the page belongs to. */
export function useShowBrand(): (brandId: string) => void {
  const { memberships } = useMe();
  const router = useRouter();
  const { pathname } = useLocation();
  return (brandId) => {
    const chosen = memberships.find(({ brand_id }) => brand_id === brandId);
    // A record, a page of a list or a filter of one brand means nothing in another.
    const to = LISTS.find((list) => pathname.startsWith(list)) ?? "/developers";
    void router.navigate({ to, state: { brand_id: brandId } }).then(() => {
      // A person who stays with unsaved edits stays with their brand. That navigation counts as done as soon as another one is.
      if (chosen === undefined || router.state.location.state.brand_id !== brandId) return;
      chooseBrand(chosen);
      announce(`Showing ${chosen.brand_name}`);
    });
  };
}
