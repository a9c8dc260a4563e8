import type { Attempt } from "@brand-records/console-contract";
import { Box, Group, Stack, Text } from "@mantine/core";
import { outcomeText } from "./delivery-texts.ts";
import { StateBadge } from "../state-badge.tsx";
import { When } from "../when.tsx";
import styles from "./attempt-list.module.css";
import { Preformatted } from "./preformatted.tsx";

/** The attempts of a delivery, the last one first. */
export const AttemptList = ({ attempts }: { readonly attempts: readonly Attempt[] }) => (
  <Box component="ol" className="framed" m={0} p={0} style={{ listStyle: "none" }} reversed>
    {attempts.toReversed().map((attempt) => (
      <AttemptItem key={attempt.id} attempt={attempt} />
    ))}
  </Box>
);

function AttemptItem({ attempt }: { readonly attempt: Attempt }) {
  const { attempt: number, started_at, duration_ms, outcome, http_status, error, response, request_headers } = attempt;
  return (
    <Stack component="li" className={styles["attempt"] ?? ""} gap="var(--space-6)" p="var(--space-12) var(--space-20)">
      <Group className={styles["line"] ?? ""} gap="var(--space-4) var(--space-12)" fz="sm">
        <strong>Attempt {number}</strong>
        <StateBadge state={outcome === "accepted" ? "delivered" : "failed"} text={outcomeText(outcome, http_status)} />
        <span>
          <When at={started_at} isExact />, {duration_ms.toLocaleString("en-PH")} ms
        </span>
      </Group>
      {error !== null && <Text size="sm">{error}</Text>}
      {request_headers.length > 0 && (
        <details className="folded">
          <summary>Request headers</summary>
          <Text size="sm" c="dimmed" mt={4}>
            The signatures are not stored: for five minutes, a reader of this page could repeat the request as if it were ours.
          </Text>
          <Preformatted text={request_headers.map(({ name, value }) => `${name}: ${value}`).join("\n")} label="Request headers" />
        </details>
      )}
      {response !== "" && (
        <details className="folded">
          <summary>Response</summary>
          <Preformatted text={response} label="Response" />
        </details>
      )}
    </Stack>
  );
}
