import type { Membership } from "@brand-records/console-contract";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { query } from "../api/queries.ts";
import { forgetUnsaved } from "./unsaved.ts";

/** In sessionStorage: this tab's brand. In localStorage: the last one chosen, with which a new tab begins. */
const STORED = "brand";
const listeners = new Set<() => void>();

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Shows another of the person's brands in this tab, also after a reload. Other tabs keep theirs: a form in one belongs to its brand. */
export function chooseBrand(brandId: string): void {
  sessionStorage.setItem(STORED, brandId);
  localStorage.setItem(STORED, brandId);
  for (const listener of listeners) listener();
}

/** Kept for this tab as soon as it shows something: what another tab chooses later changes nothing here. */
function chosenBrand(): string | null {
  const ofTab = sessionStorage.getItem(STORED);
  if (ofTab !== null) return ofTab;
  const last = localStorage.getItem(STORED);
  if (last !== null) sessionStorage.setItem(STORED, last);
  return last;
}

export function useMe() {
  return useSuspenseQuery(query("session.me", {})).data;
}

export interface CurrentBrand extends Membership {
  readonly isOwner: boolean;
  /** What each call names. */
  readonly ofBrand: { readonly brand_id: string };
}

/** The brand that the pages show: the chosen one while the person is its member, else the first. */
export function useBrand(): CurrentBrand {
  const { memberships } = useMe();
  const chosen = useSyncExternalStore(subscribe, chosenBrand);
  const brand = memberships.find(({ brand_id }) => brand_id === chosen) ?? memberships[0];
  // A session has at least one membership: accounts ends it with the last.
  if (brand === undefined) throw new Error("You are not a member of any brand. Ask an owner of your brand to add you.");
  return { ...brand, isOwner: brand.role === "owner", ofBrand: { brand_id: brand.brand_id } };
}

/** Forgets everything that was read, such as before another person signs in. */
export function useForgetEverything(): () => void {
  const client = useQueryClient();
  return () => {
    client.clear();
    forgetUnsaved();
  };
}
