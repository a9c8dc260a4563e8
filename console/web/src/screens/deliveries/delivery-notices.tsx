import type { Delivery, Output, Receiver } from "@brand-records/console-contract";
import type { ReactNode } from "react";
import { CallError } from "../../api/call.ts";
import { POLL_MS, useBrand, useRead } from "../../api/queries.ts";
import { Notice } from "../../parts/states.tsx";
import { PausedText } from "../../parts/receivers/paused-text.tsx";
import { reasonOf } from "../../parts/receivers/receiver-state.ts";
import { AnchorLink } from "../../parts/links.tsx";
import { When } from "../../parts/when.tsx";

export interface ReceiverOf {
  readonly receiverId: string;
  /** Undefined while it loads, if it could not be loaded, and once it is deleted. */
  readonly receiver: Receiver | undefined;
  readonly isDeleted: boolean;
}

/** The receiver of a delivery. Read again when the delivery's state changes, for the reason. */
export function useReceiverOf({ receiver_id, state }: Delivery): ReceiverOf {
  const { data, error } = useRead("receivers.get", { receiver_id }, { refetchInterval: state === "held" && POLL_MS });
  return { receiverId: receiver_id, receiver: data?.receiver, isDeleted: error instanceof CallError && error.code === "not_found" };
}

/** Why a delivery is not sent now, although it is not finished. */
export function WaitingNotice({ data, receiverOf }: { readonly data: Output<"deliveries.get">; readonly receiverOf: ReceiverOf }) {
  const { isOwner } = useBrand();
  const reason = waitingReason(data, receiverOf, isOwner);
  return reason === null ? null : <Notice tone="waiting">{reason}</Notice>;
}

function waitingReason(
  { delivery: { state }, paused_until, failures_in_a_row }: Output<"deliveries.get">,
  { receiver, isDeleted }: ReceiverOf,
  isOwner: boolean,
): ReactNode {
  if (isDeleted) return "The receiver was deleted. Nothing more is sent to it.";
  if (state === "held") {
    const reason = receiver === undefined ? undefined : reasonOf(receiver);
    const enable = isOwner ? "Enable the receiver to send it" : "It is sent when an owner enables the receiver";
    return `Held, because the receiver was disabled${reason === undefined ? "" : ` ${reason}`}. ${enable}, within 30 days of its event.`;
  }
  if (state !== "pending" || paused_until === null) return null;
  return <PausedText until={paused_until} failuresInARow={failures_in_a_row} />;
}

type Details = Output<"deliveries.get">;

/** Tells a delivery that was made by "Send again" from the one that it sends, and leads from each to the other. */
export function RepeatLinks({ delivery, original, repeats }: Pick<Details, "delivery" | "original" | "repeats">) {
  const [newest, ...older] = repeats;
  if (original === null && newest === undefined) return null;
  return (
    <Notice>
      {original !== null && (
        <div>
          Sent again from <To {...original}>the delivery of</To> at <When at={delivery.created_at} isExact />.
        </div>
      )}
      {newest !== undefined && (
        <div>
          <To {...newest}>Sent again at</To>
          {older.map((repeat) => (
            <span key={repeat.id}>
              , <To {...repeat}>at</To>
            </span>
          ))}
          .
        </div>
      )}
    </Notice>
  );
}

const To = ({ id, created_at, children }: Details["repeats"][number] & { readonly children: string }) => (
  <AnchorLink to="/developers/deliveries/$deliveryId" params={{ deliveryId: id }} inherit underline="always">
    {children} <When at={created_at} isExact />
  </AnchorLink>
);
