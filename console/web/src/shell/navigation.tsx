import { Text } from "@mantine/core";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ComponentType } from "react";
import {
  AssistantIcon,
  AuditIcon,
  EventIcon,
  KeyIcon,
  MembersIcon,
  OverviewIcon,
  PlanIcon,
  ReceiverIcon,
  ReferenceIcon,
  UsageIcon,
} from "../parts/icons.tsx";
import { useBrand } from "../api/brand.ts";
import styles from "./shell.module.css";

interface Place {
  readonly text: string;
  readonly to: NonNullable<LinkProps["to"]>;
  readonly icon: ComponentType;
  /** True for an entry that tells members only why it shows nothing. */
  readonly isForOwners?: boolean;
}

/** Where people can go, by area. */
const AREAS: readonly { readonly title: string; readonly places: readonly Place[] }[] = [
  { title: "Campaigns", places: [{ text: "Campaign plans", to: "/workspaces", icon: PlanIcon }] },
  {
    title: "Developers",
    places: [
      { text: "Overview", to: "/developers", icon: OverviewIcon },
      { text: "API keys", to: "/developers/keys", icon: KeyIcon },
      { text: "Receivers", to: "/developers/receivers", icon: ReceiverIcon },
      { text: "Events", to: "/developers/events", icon: EventIcon },
      { text: "Usage", to: "/developers/usage", icon: UsageIcon },
      { text: "Assistants", to: "/developers/assistants", icon: AssistantIcon },
      { text: "Members", to: "/developers/members", icon: MembersIcon },
      { text: "Audit log", to: "/developers/audit", icon: AuditIcon, isForOwners: true },
    ],
  },
];

/** @param onNavigate called for each choice: it folds the navigation of a narrow screen */
export function Navigation({ onNavigate }: { onNavigate(): void }) {
  const { isOwner } = useBrand();
  return (
    <>
      {AREAS.map(({ title, places }) => (
        <section key={title} className={styles["area"]} aria-label={title}>
          <Text className={styles["areaTitle"]} component="h2">
            {title}
          </Text>
          {places
            .filter(({ isForOwners }) => isOwner || !isForOwners)
            .map(({ text, to, icon: Icon }) => (
              <Link
                key={to}
                to={to}
                // The overview is no place above the others, though its path is.
                activeOptions={{ exact: to === "/developers" }}
                className={styles["place"]}
                onClick={onNavigate}
              >
                <Icon />
                {text}
              </Link>
            ))}
        </section>
      ))}
      <a href="/docs" className={styles["place"]}>
        <ReferenceIcon />
        API reference
      </a>
    </>
  );
}
