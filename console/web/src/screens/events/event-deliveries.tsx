import type { Output } from "@brand-records/console-contract";
import { Link } from "@tanstack/react-router";
import { LastAttempt } from "../../parts/deliveries/last-attempt.tsx";
import { Marks } from "../../parts/deliveries/marks.tsx";
import { Lines } from "../../parts/lines.tsx";
import { Rows, type Column } from "../../parts/rows.tsx";
import { When } from "../../parts/when.tsx";
import { useBrand } from "../../api/brand.ts";
import { DeliveryState } from "../../parts/deliveries/delivery-state.tsx";
import { SendAgain } from "../../parts/deliveries/send-again.tsx";
import { deliveryRows, type DeliveryRow } from "./delivery-rows.ts";
import styles from "./events.module.css";

/** The deliveries of one event to every receiver, and for each receiver a button that sends the event to it once more. */
export function EventDeliveries({ receivers }: { readonly receivers: Output<"events.get">["receivers"] }) {
  const { isOwner } = useBrand();
  return (
    <Rows
      label="Deliveries of this event"
      columns={isOwner ? [...COLUMNS, ACTION] : COLUMNS}
      rows={deliveryRows(receivers)}
      keyOf={({ delivery: { id } }) => id}
    />
  );
}

const COLUMNS: Column<DeliveryRow>[] = [
  {
    title: "Receiver",
    cell: ({ delivery, label, host }) => (
      <Lines>
        <div>
          <Link className="row-link" to="/developers/deliveries/$deliveryId" params={{ deliveryId: delivery.id }}>
            {label ?? "Deleted receiver"}
          </Link>
          <Marks delivery={delivery} />
        </div>
        {host === null ? <code className={styles["id"]}>{delivery.receiver_id}</code> : <span>{host}</span>}
      </Lines>
    ),
  },
  { title: "State", cell: ({ delivery, pausedUntil }) => <DeliveryState delivery={delivery} pausedUntil={pausedUntil} /> },
  { title: "Last attempt", cell: ({ delivery }) => <LastAttempt delivery={delivery} /> },
  { title: "Created", cell: ({ delivery }) => <When at={delivery.created_at} isExact /> },
];

const ACTION: Column<DeliveryRow> = {
  title: "Actions",
  isAction: true,
  // While an attempt is in progress, its delivery is the one to wait for. One that is held goes out when its receiver is enabled.
  cell: ({ delivery, label, isNewest }) =>
    label !== null && isNewest && delivery.state !== "held" && <SendAgain delivery={delivery} to={label} />,
};
