import { NativeSelect, Text } from "@mantine/core";
import { announce } from "../parts/status-region.tsx";
import { chooseBrand, useBrand, useMe } from "./brand.tsx";
import styles from "./shell.module.css";

const TIERS: Readonly<Record<string, string>> = { starter: "Starter", plus: "Plus", pro: "Pro", enterprise: "Enterprise" };

/** The brand whose records the pages show; a choice for people of several brands. */
export function BrandSwitcher() {
  const { memberships, environment } = useMe();
  const brand = useBrand();
  return (
    <div className={styles["brand"]}>
      {memberships.length > 1 ? (
        <NativeSelect
          aria-label="Brand"
          value={brand.brand_id}
          onChange={({ currentTarget }) => {
            chooseBrand(currentTarget.value);
            announce(`Showing ${currentTarget.selectedOptions[0]?.text}`);
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
