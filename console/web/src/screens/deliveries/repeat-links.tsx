import type { Output } from "@brand-records/console-contract";
import { AnchorLink } from "../../parts/links.tsx";
import { Notice } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";

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
