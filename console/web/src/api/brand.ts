import type { Membership } from "@brand-records/console-contract";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { query } from "./queries.ts";
import { useTab } from "./tab.ts";
import { forgetUnsaved } from "./unsaved.ts";

export function useMe() {
  return useSuspenseQuery(query("session.me", {})).data;
}

interface CurrentBrand extends Membership {
  readonly isOwner: boolean;
  /** What each call names. */
  readonly ofBrand: { readonly brand_id: string };
}

/** The brand of the tab; undefined if the person is not its member any more, or is another one than the tab's. */
export function useBrandOfTab(): CurrentBrand | undefined {
  const { email, memberships } = useMe();
  const tab = useTab();
  const brand = memberships.find(({ brand_id }) => brand_id === tab.brand_id);
  if (brand === undefined || email !== tab.email) return undefined;
  return { ...brand, isOwner: brand.role === "owner", ofBrand: { brand_id: brand.brand_id } };
}

/** The brand that the page shows. The shell shows pages for as long as there is one. */
export function useBrand(): CurrentBrand {
  const brand = useBrandOfTab();
  if (brand === undefined) throw new Error("the tab shows no brand");
  return brand;
}

/** Forgets everything that was read, such as before another person signs in. */
export function useForgetEverything(): () => void {
  const client = useQueryClient();
  return () => {
    client.clear();
    forgetUnsaved();
  };
}
