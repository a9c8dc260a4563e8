import {
  DeliveriesServiceService,
  EventsServiceService,
  OperatorServiceService,
  ReceiversServiceService,
} from "@brand-records/proto/webhook/v1";
import { service, type ServedService } from "@brand-records/rpc";
import type { WebhookDependencies } from "../dependencies.ts";
import { deliveriesHandlers } from "./deliveries.ts";
import { eventsHandlers } from "./events.ts";
import { operatorHandlers } from "./operator.ts";
import { receiversHandlers } from "./receivers.ts";
import { requireOwners } from "./require-owners.ts";

export function webhookServices(deps: WebhookDependencies): ServedService[] {
  const { memberships } = deps;
  return [
    service(ReceiversServiceService, requireOwners(ReceiversServiceService, receiversHandlers(deps), memberships)),
    service(DeliveriesServiceService, requireOwners(DeliveriesServiceService, deliveriesHandlers(deps), memberships)),
    service(EventsServiceService, eventsHandlers(deps)),
    service(OperatorServiceService, operatorHandlers(deps)),
  ];
}
