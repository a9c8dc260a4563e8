import type { Delivery, Output } from "@brand-records/console-contract";
import { Link } from "@tanstack/react-router";
import { AnchorLink } from "../../parts/links.tsx";
import { outcomeText } from "../../parts/deliveries/outcome.ts";
import { Rows, type Column } from "../../parts/rows.tsx";
import { When } from "../../parts/when.tsx";
import { useBrand } from "../../api/brand.ts";
import { DeliveryState } from "../../parts/deliveries/delivery-state.tsx";
import { SendAgain } from "../../parts/deliveries/send-again.tsx";
import styles from "./events.module.css";

type EventReceiver = Output<"events.get">["receivers"][number];

/** The deliveries of one event by receiver, each with a button that sends the event to it once more. */
export function EventReceivers({ receivers }: { readonly receivers: readonly EventReceiver[] }) {
  const { isOwner } = useBrand();
  return receivers.map(({ receiver_id, label, deliveries }) => {
    const [newest] = deliveries;
    return (
      <article key={receiver_id} className={styles["receiver"]} aria-label={label ?? "Deleted receiver"}>
        <div className={styles["title"]}>
          <h3>{label === null ? <DeletedReceiver id={receiver_id} /> : <ReceiverLink id={receiver_id} label={label} />}</h3>
          {/* While an attempt is in progress, its delivery is the one to wait for. */}
          {isOwner && label !== null && newest !== undefined && <SendAgain delivery={newest} to={label} />}
        </div>
        <Rows label={`Deliveries to ${label ?? receiver_id}`} columns={COLUMNS} rows={deliveries} keyOf={({ id }) => id} />
      </article>
    );
  });
}

const ReceiverLink = ({ id, label }: { readonly id: string; readonly label: string }) => (
  <AnchorLink to="/developers/receivers/$receiverId" params={{ receiverId: id }} fw={600}>
    {label}
  </AnchorLink>
);

const DeletedReceiver = ({ id }: { readonly id: string }) => (
  <>
    Deleted receiver <code className={styles["id"]}>{id}</code>
  </>
);

const COLUMNS: Column<Delivery>[] = [
  {
    title: "Delivery",
    cell: ({ id, created_at }) => (
      <Link className="row-link" to="/developers/deliveries/$deliveryId" params={{ deliveryId: id }}>
        <When at={created_at} />
      </Link>
    ),
  },
  { title: "State", cell: (delivery) => <DeliveryState delivery={delivery} /> },
  { title: "Attempts", cell: ({ attempts }) => attempts.toLocaleString("en-PH") },
  {
    title: "Last attempt",
    cell: ({ last_outcome, last_http_status }) => (last_outcome === null ? "None yet" : outcomeText(last_outcome, last_http_status)),
  },
];
