import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ReferenceIcon } from "../parts/icons.tsx";
import { useBrand } from "../api/brand.ts";
import { AREAS } from "./places.ts";
import styles from "./shell.module.css";

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
