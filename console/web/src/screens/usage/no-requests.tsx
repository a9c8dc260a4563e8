import type { Key } from "@brand-records/console-contract";
import { USAGE_RANGES, type UsageRangeName } from "@brand-records/console-contract/time-ranges";
import { Stack, Text } from "@mantine/core";
import { CopyableText } from "../../parts/copyable.tsx";
import { firstCall } from "../../parts/first-call.ts";
import { ButtonLink } from "../../parts/links.tsx";
import { EmptyState } from "../../parts/states.tsx";
import { useMayIntegrate } from "../../parts/eligibility.tsx";

/** Says that nothing was requested in a range and, to a brand that never called the API, how to make the first call. */
export function NoRequests({ range, keys }: { readonly range: UsageRangeName; readonly keys: readonly Key[] }) {
  const mayIntegrate = useMayIntegrate();
  const isNew = keys.every(({ last_used_at }) => last_used_at === null);
  if (!isNew) {
    return (
      <EmptyState title={`No requests in the last ${USAGE_RANGES[range].length}`}>
        {range === "month" ? "Earlier requests are no longer counted." : "Choose a longer time to see earlier ones."}
      </EmptyState>
    );
  }
  const hasKey = keys.some(({ revoked_at }) => revoked_at === null);
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
