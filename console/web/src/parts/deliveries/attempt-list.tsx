import type { Attempt } from "@brand-records/console-contract";
import { Text } from "@mantine/core";
import { outcomeText } from "./delivery-texts.ts";
import { StateBadge } from "../state-badge.tsx";
import { When } from "../when.tsx";
import styles from "./attempt-list.module.css";
import { Preformatted } from "./preformatted.tsx";

/** The attempts of a delivery, the last one first. */
export const AttemptList = ({ attempts }: { readonly attempts: readonly Attempt[] }) => (
  <ol className={styles["attempts"]} reversed>
    {attempts.toReversed().map((attempt) => (
      <AttemptItem key={attempt.id} attempt={attempt} />
    ))}
  </ol>
);

function AttemptItem({ attempt }: { readonly attempt: Attempt }) {
  const { attempt: number, started_at, duration_ms, outcome, http_status, error, response, request_headers } = attempt;
  return (
    <li className={styles["attempt"]}>
      <div className={styles["line"]}>
        <strong>Attempt {number}</strong>
        <StateBadge state={outcome === "accepted" ? "delivered" : "failed"} text={outcomeText(outcome, http_status)} />
        <span>
          <When at={started_at} isExact />, {duration_ms.toLocaleString("en-PH")} ms
        </span>
      </div>
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
    </li>
  );
}
