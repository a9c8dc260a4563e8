import { type LinkProps, useLocation, useRouter } from "@tanstack/react-router";
import type { ComponentType } from "react";
import {
  AssistantIcon,
  AuditIcon,
  EventIcon,
  KeyIcon,
  MailIcon,
  MembersIcon,
  OverviewIcon,
  PlanIcon,
  ReceiverIcon,
  RequestIcon,
  UsageIcon,
} from "../parts/icons.tsx";
import { chooseBrand } from "../api/tab.ts";
import { useMe } from "../api/queries.ts";
import { announce } from "../parts/states.tsx";

export interface Place {
  readonly text: string;
  readonly to: NonNullable<LinkProps["to"]>;
  readonly icon: ComponentType;
  /** True for an entry that tells members only why it shows nothing. */
  readonly isForOwners?: boolean;
}

/** Where people can go, by area. */
export const AREAS: readonly { readonly title: string; readonly places: readonly Place[] }[] = [
  { title: "Campaigns", places: [{ text: "Campaign plans", to: "/workspaces", icon: PlanIcon }] },
  {
    title: "Developers",
    places: [
      { text: "Overview", to: "/developers", icon: OverviewIcon },
      { text: "API keys", to: "/developers/keys", icon: KeyIcon },
      { text: "Receivers", to: "/developers/receivers", icon: ReceiverIcon },
      { text: "Events", to: "/developers/events", icon: EventIcon },
      { text: "Usage", to: "/developers/usage", icon: UsageIcon },
      { text: "Requests", to: "/developers/requests", icon: RequestIcon },
      { text: "Assistants", to: "/developers/assistants", icon: AssistantIcon },
      { text: "Members", to: "/developers/members", icon: MembersIcon },
      { text: "Mail", to: "/developers/mail", icon: MailIcon, isForOwners: true },
      { text: "Audit log", to: "/developers/audit", icon: AuditIcon, isForOwners: true },
    ],
  },
];

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
