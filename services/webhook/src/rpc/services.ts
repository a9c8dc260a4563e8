import {
  DeliveriesServiceService,
  EventsServiceService,
  OperatorServiceService,
  ReceiversServiceService,
} from "@brand-records/proto/webhook/v1";
import { service, type ServedService } from "@brand-records/rpc";
import type { WebhookDependencies } from "../dependencies.ts";
import { DELIVERIES_CALLERS, EVENTS_CALLERS, OPERATOR_CALLERS, RECEIVERS_CALLERS } from "./callers.ts";
import { deliveriesHandlers } from "./deliveries.ts";
import { eventsHandlers } from "./events.ts";
import { operatorHandlers } from "./operator.ts";
import { receiversHandlers } from "./receivers.ts";
import { NEEDS, requireOwners } from "./require-owners.ts";

/** What the service serves, beside the intake. */
export function webhookServices(deps: WebhookDependencies): ServedService[] {
  const { owners } = deps;
  return [
    service(
      ReceiversServiceService,
      requireOwners<ReceiversServiceService>(NEEDS.receivers, receiversHandlers(deps), owners),
      RECEIVERS_CALLERS,
    ),
    service(
      DeliveriesServiceService,
      requireOwners<DeliveriesServiceService>(NEEDS.deliveries, deliveriesHandlers(deps), owners),
      DELIVERIES_CALLERS,
    ),
    service(EventsServiceService, requireOwners<EventsServiceService>(NEEDS.events, eventsHandlers(deps), owners), EVENTS_CALLERS),
    service(
      OperatorServiceService,
      requireOwners<OperatorServiceService>(NEEDS.operator, operatorHandlers(deps), owners),
      OPERATOR_CALLERS,
    ),
  ];
}
