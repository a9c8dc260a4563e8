import { NativeSelect, Text } from "@mantine/core";
import { useLocation, useRouter } from "@tanstack/react-router";
import { chooseBrand } from "../api/tab.ts";
import { announce } from "../parts/status-region.tsx";
import { useBrand, useMe } from "../api/brand.ts";
import styles from "./shell.module.css";

const TIERS: Readonly<Record<string, string>> = { starter: "Starter", plus: "Plus", pro: "Pro", enterprise: "Enterprise" };

/** The lists that a page belongs to. */
const AREAS = [
  "/workspaces",
  "/developers/keys",
  "/developers/receivers",
  "/developers/events",
  "/developers/usage",
  "/developers/assistants",
  "/developers/members",
  "/developers/audit",
] as const;

/** The brand whose records the pages show; a choice for people of several brands. */
export function BrandSwitcher() {
  const { memberships, environment } = useMe();
  const brand = useBrand();
  const router = useRouter();
  const { pathname } = useLocation();
  return (
    <div className={styles["brand"]}>
      {memberships.length > 1 ? (
        <NativeSelect
          aria-label="Brand"
          value={brand.brand_id}
          onChange={({ currentTarget: { value } }) => {
            const chosen = memberships.find(({ brand_id }) => brand_id === value);
            // A record, a page of a list or a filter of one brand means nothing in another.
            const to = AREAS.find((area) => pathname.startsWith(area)) ?? "/developers";
            void router.navigate({ to, state: { brand_id: value } }).then(() => {
              // A person who stays with unsaved edits stays with their brand. That navigation counts as done as soon as another one is.
              if (chosen === undefined || router.state.location.state.brand_id !== value) return;
              chooseBrand(chosen);
              announce(`Showing ${chosen.brand_name}`);
            });
          }}
          data={memberships.map(({ brand_id, brand_name }) => ({ value: brand_id, label: brand_name }))}
        />
      ) : (
        <Text fw={600} className={styles["brandName"]}>
          {brand.brand_name}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {TIERS[brand.tier] ?? brand.tier} plan, you are {brand.isOwner ? "an owner" : "a member"}
        {environment === "test" && ", test environment"}
      </Text>
    </div>
  );
}
