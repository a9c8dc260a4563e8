import type { Attempt, Output } from "@brand-records/console-contract";
import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { CallError } from "../../api/call.ts";
import { query, useChange } from "../../api/queries.ts";
import { CopyableId } from "../../parts/copyable.tsx";
import { Facts } from "../../parts/facts.tsx";
import { AnchorLink } from "../../parts/links.tsx";
import { outcomeText } from "../../parts/outcome.ts";
import { Page } from "../../parts/page.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { EmptyState, ErrorState, FormError, LoadingRows, Notice } from "../../parts/states.tsx";
import { announce } from "../../parts/status-region.tsx";
import { When } from "../../parts/when.tsx";
import { useBrand } from "../../shell/brand.tsx";
import { NotFoundPage } from "../../shell/error-pages.tsx";
import { ReceiversLink } from "../receivers/receivers-link.tsx";
import styles from "./delivery.module.css";
import { DeliveryState } from "./delivery-state.tsx";
import { pollMs } from "./polling.ts";

export function Delivery() {
  const { deliveryId } = getRouteApi("/shell/developers/deliveries/$deliveryId").useParams();
  const { ofBrand, isOwner } = useBrand();
  const { data, error, refetch } = useQuery({
    ...query("deliveries.get", { ...ofBrand, delivery_id: deliveryId }),
    refetchInterval: ({ state: { data, error } }) => pollMs(data && [data.delivery], error),
  });
  if (data === undefined) {
    if (error instanceof CallError && error.code === "not_found") return <NotFoundPage />;
    return (
      <Page title="Delivery" parent={<ReceiversLink />}>
        {error === null ? <LoadingRows /> : <ErrorState error={error} retry={() => void refetch()} />}
      </Page>
    );
  }
  return <DeliveryPage data={data} isOwner={isOwner} />;
}

function DeliveryPage({ data, isOwner }: { readonly data: Output<"deliveries.get">; readonly isOwner: boolean }) {
  const { delivery, attempts, body, paused_until } = data;
  const parent = (
    <AnchorLink to="/developers/receivers/$receiverId" params={{ receiverId: delivery.receiver_id }} size="sm">
      Receiver
    </AnchorLink>
  );
  return (
    <Page
      title={delivery.test ? `${delivery.event_type} (test)` : delivery.event_type}
      parent={parent}
      actions={
        isOwner && <SendAgain deliveryId={delivery.id} isPending={delivery.state === "pending"} isBusy={delivery.state === "sending"} />
      }
    >
      {paused_until !== null && delivery.state === "pending" && (
        <Notice tone="warning">
          Sending to this receiver is paused until <When at={paused_until} />.
        </Notice>
      )}
      <Facts
        facts={[
          ["State", <DeliveryState delivery={delivery} />],
          ["Created", <When at={delivery.created_at} />],
          ["Delivery", <CopyableId id={delivery.id} label="delivery’s id" />],
          ["Event", <CopyableId id={delivery.event_id} label="event’s id" />],
        ]}
      />
      <section aria-labelledby="attempts">
        <Text id="attempts" component="h2" fw={650} mb="sm">
          Attempts
        </Text>
        {attempts.length === 0 ? (
          <EmptyState title="Not attempted yet">The first attempt shows here as soon as it ends.</EmptyState>
        ) : (
          <ol className={styles["attempts"]} reversed>
            {attempts.toReversed().map((attempt) => (
              <AttemptItem key={attempt.id} attempt={attempt} />
            ))}
          </ol>
        )}
      </section>
      <section aria-labelledby="body">
        <Text id="body" component="h2" fw={650} mb="sm">
          Body
        </Text>
        {body === null ? (
          <Text c="dimmed">The event is no longer stored.</Text>
        ) : (
          <Preformatted text={indented(body)} label="Body as sent" />
        )}
      </section>
    </Page>
  );
}

function SendAgain({
  deliveryId,
  isPending,
  isBusy,
}: {
  readonly deliveryId: string;
  readonly isPending: boolean;
  readonly isBusy: boolean;
}) {
  const { ofBrand } = useBrand();
  const navigate = useNavigate();
  const replay = useChange("deliveries.replay", ["deliveries.get", "deliveries.list"]);
  const send = (): void =>
    replay.mutate(
      { ...ofBrand, delivery_id: deliveryId },
      {
        onSuccess: ({ delivery }) => {
          announce(isPending ? "Due now" : "Sending again");
          void navigate({ to: "/developers/deliveries/$deliveryId", params: { deliveryId: delivery.id } });
        },
      },
    );
  return (
    <div>
      {!isBusy && (
        <Button variant="default" onClick={send} loading={replay.isPending}>
          {isPending ? "Send now" : "Send again"}
        </Button>
      )}
      <FormError error={replay.error} />
    </div>
  );
}

function AttemptItem({ attempt }: { readonly attempt: Attempt }) {
  const { attempt: number, started_at, duration_ms, outcome, http_status, error, response, request_headers } = attempt;
  return (
    <li className={styles["attempt"]}>
      <div className={styles["line"]}>
        <strong>Attempt {number}</strong>
        <StateBadge state={outcome === "accepted" ? "delivered" : "failed"} text={outcomeText(outcome, http_status)} />
        <span>
          <When at={started_at} />, {duration_ms.toLocaleString("en-PH")} ms
        </span>
      </div>
      {error !== null && <Text size="sm">{error}</Text>}
      {request_headers.length > 0 && (
        <details>
          <summary>Request headers</summary>
          <Preformatted text={request_headers.map(({ name, value }) => `${name}: ${value}`).join("\n")} label="Request headers" />
        </details>
      )}
      {response !== "" && (
        <details>
          <summary>Response</summary>
          <Preformatted text={response} label="Response" />
        </details>
      )}
    </li>
  );
}

/** Text from outside: shown as text, whatever it holds. It scrolls, so the keyboard must reach it. */
const Preformatted = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <pre className={styles["text"]} tabIndex={0} role="region" aria-label={label}>
    {text}
  </pre>
);

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    // Shown as it was sent.
    return json;
  }
}
