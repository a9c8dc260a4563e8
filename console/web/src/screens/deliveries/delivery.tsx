import type { Output } from "@brand-records/console-contract";
import { Group, Text } from "@mantine/core";
import { useInterval } from "@mantine/hooks";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useBrand, useRead } from "../../api/queries.ts";
import { Breakable } from "../../parts/breakable.tsx";
import { Id } from "../../parts/id.tsx";
import { CopyableId } from "../../parts/copyable.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Lines } from "../../parts/rows.tsx";
import { AnchorLink } from "../../parts/links.tsx";
import { Page } from "../../parts/page.tsx";
import { EmptyState, FormError } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { NotReadPage } from "../../shell/error-pages.tsx";
import { AttemptList } from "../../parts/deliveries/attempt-list.tsx";
import { BodyAsSent, SendToOwn } from "../../parts/deliveries/preformatted.tsx";
import { DeliveryState } from "../../parts/deliveries/delivery-cells.tsx";
import { pollMs } from "../../parts/deliveries/polling.ts";
import { nextAttemptAt, timeLeft } from "../../parts/deliveries/delivery-texts.ts";
import { SendAgain } from "../../parts/deliveries/send-again.tsx";
import { Neighbours } from "./neighbours.tsx";
import { RepeatLinks, useReceiverOf, WaitingNotice, type ReceiverOf } from "./delivery-notices.tsx";

export default function Delivery() {
  const { deliveryId } = getRouteApi("/shell/developers/deliveries/$deliveryId").useParams();
  const { data, error, refetch } = useRead(
    "deliveries.get",
    { delivery_id: deliveryId },
    { refetchInterval: (read) => pollMs(read && [read.delivery]) },
  );
  if (data === undefined) return <NotReadPage of="delivery" parent="receivers" error={error} refetch={refetch} />;
  return <DeliveryPage key={deliveryId} data={data} error={error} />;
}

function DeliveryPage({ data, error }: { readonly data: Output<"deliveries.get">; readonly error: Error | null }) {
  const { delivery, attempts, body } = data;
  const { isOwner } = useBrand();
  const receiverOf = useReceiverOf(delivery);
  // A held one waits until its receiver is enabled, whatever is asked.
  const mayBeSent = isOwner && body !== null && !receiverOf.isDeleted && delivery.state !== "held";
  return (
    <Page
      title={delivery.test ? `${delivery.event_type} (test)` : delivery.event_type}
      parent={
        receiverOf.isDeleted ? (
          "receivers"
        ) : (
          <AnchorLink to="/developers/receivers/$receiverId" params={{ receiverId: receiverOf.receiverId }} size="sm">
            {receiverOf.receiver?.label ?? "Receiver"}
          </AnchorLink>
        )
      }
      actions={
        <Group gap="xs">
          <Neighbours delivery={delivery} />
          {mayBeSent && <SendAgain delivery={delivery} />}
        </Group>
      }
    >
      <FormError error={error} />
      <RepeatLinks {...data} />
      <WaitingNotice data={data} receiverOf={receiverOf} />
      <DeliveryFacts data={data} receiverOf={receiverOf} />
      <section aria-labelledby="attempts">
        <Text id="attempts" component="h2" fw={650} mb="sm">
          Attempts
        </Text>
        {delivery.sending_since !== null && (
          <Text size="sm" mb="sm">
            Attempt {delivery.attempts} is in progress since <When at={delivery.sending_since} />.
          </Text>
        )}
        {attempts.length > 0 && <AttemptList attempts={attempts} />}
        {attempts.length === 0 && delivery.sending_since === null && (
          <EmptyState title="Not attempted yet">The first attempt shows here as soon as it ends.</EmptyState>
        )}
      </section>
      {body === null ? (
        <Text c="dimmed">The event is no longer stored, so it cannot be sent again.</Text>
      ) : (
        <>
          <BodyAsSent body={body} />
          <SendToOwn type={delivery.event_type} body={body} />
        </>
      )}
    </Page>
  );
}

interface FactsProps {
  readonly data: Output<"deliveries.get">;
  readonly receiverOf: ReceiverOf;
}

function DeliveryFacts({ data: { delivery, paused_until }, receiverOf }: FactsProps) {
  const next = nextAttemptAt(delivery, paused_until);
  return (
    <Facts
      facts={[
        ["State", <DeliveryState delivery={delivery} pausedUntil={paused_until} />],
        ["Target", <Target {...receiverOf} />],
        ["Created", <When at={delivery.created_at} isExact />],
        ["Delivery", <CopyableId id={delivery.id} label="delivery’s id" />],
        [
          "Event",
          <>
            <div>
              <CopyableId id={delivery.event_id} label="event’s id" />
            </div>
            <AnchorLink to="/developers/events/$eventId" params={{ eventId: delivery.event_id }} size="sm">
              All of its deliveries
            </AnchorLink>
          </>,
        ],
        // Last, as it comes and goes: nothing moves under the pointer.
        next !== undefined && [
          "Next attempt",
          <>
            <TimeUntil at={next} />, <When at={new Date(next).toISOString()} />
          </>,
        ],
      ]}
    />
  );
}

/** Where the attempts go: an owner sees the whole URL, a member its origin. */
const Target = ({ receiverId, receiver, isDeleted }: ReceiverOf) => {
  if (receiver === undefined) {
    return (
      <>
        {isDeleted && "A receiver that was deleted, "}
        <Id id={receiverId} />
      </>
    );
  }
  return (
    <Lines>
      <div>
        <Breakable of={receiver.url} />
      </div>
      <span>{receiver.label}</span>
    </Lines>
  );
};

/** The time until a moment, counting down. Not a live region: it would speak every second. */
function TimeUntil({ at }: { readonly at: number }) {
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), 1_000, { autoInvoke: true });
  const left = timeLeft(at - now);
  return <span>{left === "now" ? "now" : `in ${left}`}</span>;
}
