import { Box, NativeSelect, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ReferenceIcon } from "../parts/icons.tsx";
import { AREAS, useShowBrand } from "./places.ts";
import styles from "./shell.module.css";
import { useBrand, useMe } from "../api/queries.ts";

/** @param onNavigate called for each choice: it folds the navigation of a narrow screen */
export function Navigation({ onNavigate }: { onNavigate(): void }) {
  const { isOwner } = useBrand();
  return (
    <>
      {AREAS.map(({ title, places }) => (
        <Stack key={title} component="section" gap={2} mb="sm" aria-label={title}>
          <Text component="h2" p="var(--space-8) var(--space-10) var(--space-4)" fz="xs" fw={550} lh={1.55} c="dimmed">
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
                className={`${styles["place"]} choice`}
                onClick={onNavigate}
              >
                <Icon />
                {text}
              </Link>
            ))}
        </Stack>
      ))}
      {Object.entries({ "/docs/api": "Guides", "/docs": "API reference" }).map(([href, text]) => (
        <a key={href} href={href} className={`${styles["place"]} choice`}>
          <ReferenceIcon />
          {text}
        </a>
      ))}
    </>
  );
}

const TIERS: Readonly<Record<string, string>> = { starter: "Starter", plus: "Plus", pro: "Pro", enterprise: "Enterprise" };

/** The brand whose records the pages show; a choice for people of several brands. */
export function BrandSwitcher() {
  const { memberships, environment } = useMe();
  const brand = useBrand();
  const showBrand = useShowBrand();
  return (
    <Box p="0 var(--space-8) var(--space-12)">
      {memberships.length > 1 ? (
        <NativeSelect
          aria-label="Brand"
          value={brand.brand_id}
          onChange={({ currentTarget: { value } }) => showBrand(value)}
          data={memberships.map(({ brand_id, brand_name }) => ({ value: brand_id, label: brand_name }))}
        />
      ) : (
        <Text fw={600} className="breakable">
          {brand.brand_name}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {TIERS[brand.tier] ?? brand.tier} plan, you are {brand.isOwner ? "an owner" : "a member"}
        {environment === "test" && ", test environment"}
      </Text>
    </Box>
  );
}
