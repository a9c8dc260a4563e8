import { USAGE_RANGES, type UsageRangeName } from "@brand-records/console-contract/time-ranges";
import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { query } from "../../api/queries.ts";
import { CopyableText } from "../../parts/copyable.tsx";
import { firstCall } from "../../parts/first-call.ts";
import { ButtonLink } from "../../parts/links.tsx";
import { EmptyState } from "../../parts/states.tsx";
import { useBrand } from "../../api/brand.ts";
import { useMayIntegrate } from "../../parts/eligibility.tsx";

/** Says that nothing was requested in a range and, to a brand that never called the API, how to make the first call. */
export function NoRequests({ range }: { readonly range: UsageRangeName }) {
  const { ofBrand } = useBrand();
  const mayIntegrate = useMayIntegrate();
  const { data } = useQuery(query("keys.list", ofBrand));
  const isNew = data !== undefined && data.keys.every(({ last_used_at }) => last_used_at === null);
  if (!isNew) {
    return (
      <EmptyState title={`No requests in the last ${USAGE_RANGES[range].length}`}>
        {range === "month" ? "Earlier requests are no longer counted." : "Choose a longer time to see earlier ones."}
      </EmptyState>
    );
  }
  const hasKey = data.keys.some(({ revoked_at }) => revoked_at === null);
  return (
    <>
      <EmptyState title="No requests yet" action={mayIntegrate && !hasKey && <ButtonLink to="/developers/keys">Create a key</ButtonLink>}>
        Each request with one of the brand’s keys counts here, of the API and of assistants.
      </EmptyState>
      {mayIntegrate && (
        <Stack gap="xs">
          <Text>Make the first call, with a key in the variable BRAND_RECORDS_KEY:</Text>
          <CopyableText text={firstCall()} label="A first call" />
        </Stack>
      )}
    </>
  );
}
