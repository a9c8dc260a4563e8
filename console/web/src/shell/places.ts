import type { LinkProps } from "@tanstack/react-router";
import type { ComponentType } from "react";
import {
  AssistantIcon,
  AuditIcon,
  EventIcon,
  FailedIcon,
  KeyIcon,
  MembersIcon,
  OverviewIcon,
  PlanIcon,
  ReceiverIcon,
  UsageIcon,
} from "../parts/icons.tsx";

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
      { text: "Failed requests", to: "/developers/requests", icon: FailedIcon },
      { text: "Assistants", to: "/developers/assistants", icon: AssistantIcon },
      { text: "Members", to: "/developers/members", icon: MembersIcon },
      { text: "Audit log", to: "/developers/audit", icon: AuditIcon, isForOwners: true },
    ],
  },
];
