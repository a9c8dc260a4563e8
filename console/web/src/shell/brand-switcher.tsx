import { NativeSelect, Text } from "@mantine/core";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { announce } from "../parts/status-region.tsx";
import { chooseBrand, useBrand, useMe } from "./brand.tsx";
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
  const navigate = useNavigate();
  const { pathname } = useLocation();
  return (
    <div className={styles["brand"]}>
      {memberships.length > 1 ? (
        <NativeSelect
          aria-label="Brand"
          value={brand.brand_id}
          onChange={({ currentTarget }) => {
            const { value, selectedOptions } = currentTarget;
            // A record, a page of a list or a filter of one brand means nothing in another.
            void navigate({ to: AREAS.find((area) => pathname.startsWith(area)) ?? "/developers" }).then(() => {
              chooseBrand(value);
              announce(`Showing ${selectedOptions[0]?.text}`);
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
