import { NativeSelect, Text } from "@mantine/core";
import { useBrand, useMe } from "../api/brand.ts";
import { useShowBrand } from "./show-brand.ts";
import styles from "./shell.module.css";

const TIERS: Readonly<Record<string, string>> = { starter: "Starter", plus: "Plus", pro: "Pro", enterprise: "Enterprise" };

/** The brand whose records the pages show; a choice for people of several brands. */
export function BrandSwitcher() {
  const { memberships, environment } = useMe();
  const brand = useBrand();
  const showBrand = useShowBrand();
  return (
    <div className={styles["brand"]}>
      {memberships.length > 1 ? (
        <NativeSelect
          aria-label="Brand"
          value={brand.brand_id}
          onChange={({ currentTarget: { value } }) => showBrand(value)}
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
