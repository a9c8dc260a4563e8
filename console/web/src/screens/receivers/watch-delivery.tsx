import type { Output } from "@brand-records/console-contract";
import { Stack, Text } from "@mantine/core";
import { useEffect, useEffectEvent } from "react";
import { useRead } from "../../api/queries.ts";
import { AnchorLink } from "../../parts/links.tsx";
import { announce, LoadingRows, NotRead } from "../../parts/states.tsx";
import { Until } from "../../parts/until.tsx";
import { When } from "../../parts/when.tsx";
import { AttemptList } from "../../parts/deliveries/attempt-list.tsx";
import { DeliveryState } from "../../parts/deliveries/delivery-cells.tsx";
import { pollMs } from "../../parts/deliveries/polling.ts";

interface WatchDeliveryProps {
  readonly deliveryId: string;
  /** Called once for each attempt that ends, with whether the receiver accepted it. */
  onAttempted?(isAccepted: boolean): void;
}

/** A test as it is sent: its state, its attempts, and a link to it. Keeps itself current until the delivery is finished. */
export function WatchDelivery({ deliveryId, onAttempted }: WatchDeliveryProps) {
  const { data, error, refetch } = useRead(
    "deliveries.get",
    { delivery_id: deliveryId },
    { refetchInterval: (read) => !isFinished(read) && pollMs(read && [read.delivery]) },
  );
  const last = data?.attempts.at(-1);
  const tell = useEffectEvent((isAccepted: boolean) => {
    announce(isAccepted ? "The receiver accepted the test" : "The receiver did not accept the test");
    onAttempted?.(isAccepted);
  });
  useEffect(() => {
    if (last !== undefined) tell(last.outcome === "accepted");
  }, [last?.id, last?.outcome]);

  if (data === undefined) return <NotRead error={error} refetch={refetch} loading={<LoadingRows rows={1} />} />;
  return (
    <Stack gap="sm" w="100%">
      <Text size="sm">
        <DeliveryState delivery={data.delivery} pausedUntil={data.paused_until} /> <Progress data={data} />
      </Text>
      {data.attempts.length > 0 && <AttemptList attempts={data.attempts} />}
      <AnchorLink to="/developers/deliveries/$deliveryId" params={{ deliveryId }} size="sm">
        Open this delivery
      </AnchorLink>
    </Stack>
  );
}

const isFinished = (data: Output<"deliveries.get"> | undefined): boolean => data !== undefined && data.delivery.finished_at !== null;

function Progress({ data: { delivery, paused_until } }: { readonly data: Output<"deliveries.get"> }) {
  if (delivery.state === "held") return "The receiver has been disabled. The test is sent when it is enabled.";
  if (delivery.state !== "pending" || paused_until === null) return null;
  return (
    <Until at={paused_until}>
      Sending to this receiver is paused until <When at={paused_until} isBrief />. The test waits until then.
    </Until>
  );
}
