import { NavLink, Text, type NavLinkProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import { ReferenceIcon } from "../parts/icons.tsx";
import { AREAS } from "./places.ts";
import { useBrand } from "../api/brand.ts";
import styles from "./shell.module.css";

const PlaceLink = createLink((props: NavLinkProps & { onClick(): void }) => <NavLink {...props} />);

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
              <PlaceLink
                key={to}
                to={to}
                // The overview is no place above the others, though its path is.
                activeOptions={{ exact: to === "/developers" }}
                label={text}
                leftSection={<Icon />}
                className={styles["place"]}
                onClick={onNavigate}
              />
            ))}
        </section>
      ))}
      <NavLink href="/docs" label="API reference" leftSection={<ReferenceIcon />} className={styles["place"]} />
    </>
  );
}
