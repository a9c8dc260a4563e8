import type { Output } from "@brand-records/console-contract";
import { Stack, Text } from "@mantine/core";
import { useBrand, useMe } from "../../api/queries.ts";
import { AnchorLink } from "../../parts/links.tsx";
import { Hint } from "../../parts/states.tsx";
import { everyBucket, totalOf } from "../../parts/usage-buckets.ts";
import { UsageNumbers } from "../../parts/usage-numbers.tsx";

const HOURS = { bucketMinutes: 60, buckets: 24 } as const;

/** How many requests the brand made in the last 24 hours, and how near they came to its limit. @param usage null if it could not be read */
export const LastDay = ({ usage }: { readonly usage: Output<"overview.get">["usage"] }) => (
  <Stack component="section" gap="md" aria-labelledby="last-day">
    <Text id="last-day" component="h2" fw={600}>
      Requests of the last 24 hours
    </Text>
    {usage === null ? <Hint>They could not be read. They are read again in a moment.</Hint> : <Usage {...usage} />}
  </Stack>
);

function Usage({ from, buckets }: NonNullable<Output<"overview.get">["usage"]>) {
  const limit = useMe().rate_limits[useBrand().tier];
  const bars = everyBucket(buckets, HOURS, { from: Date.parse(from) });
  return (
    <>
      <UsageNumbers total={totalOf(buckets)} limit={limit} per="hour" buckets={bars} />
      <AnchorLink to="/developers/usage" size="sm">
        Usage by key and by minute
      </AnchorLink>
    </>
  );
}
