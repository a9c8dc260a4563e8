import { NavLink, Text } from "@mantine/core";
import { Link, useLocation, type LinkProps } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { KeyIcon, OverviewIcon, ReceiverIcon, ReferenceIcon } from "../parts/icons.tsx";
import styles from "./shell.module.css";

interface Place {
  readonly text: string;
  readonly to: NonNullable<LinkProps["to"]>;
  readonly icon: ComponentType;
}

/** Where people can go, by area. */
const AREAS: readonly { readonly title: string; readonly places: readonly Place[] }[] = [
  {
    title: "Developers",
    places: [
      { text: "Overview", to: "/developers", icon: OverviewIcon },
      { text: "API keys", to: "/developers/keys", icon: KeyIcon },
      { text: "Receivers", to: "/developers/receivers", icon: ReceiverIcon },
    ],
  },
];

/** @param onNavigate called for each choice: it folds the navigation of a narrow screen */
export function Navigation({ onNavigate }: { onNavigate(): void }) {
  const { pathname } = useLocation();
  return (
    <>
      {AREAS.map(({ title, places }) => (
        <section key={title} className={styles["area"]} aria-label={title}>
          <Text className={styles["areaTitle"]} component="h2">
            {title}
          </Text>
          {places.map(({ text, to, icon: Icon }) => {
            const isHere = to === "/developers" ? pathname.replace(/\/$/, "") === to : pathname.startsWith(to);
            return (
              <NavLink
                key={to}
                component={Link}
                to={to}
                label={text}
                leftSection={<Icon />}
                className={styles["place"]}
                data-here={isHere || undefined}
                aria-current={isHere ? "page" : undefined}
                onClick={onNavigate}
              />
            );
          })}
        </section>
      ))}
      <NavLink href="/docs" label="API reference" leftSection={<ReferenceIcon />} className={styles["place"]} />
    </>
  );
}
