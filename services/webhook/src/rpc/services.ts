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

export function webhookServices(deps: WebhookDependencies): ServedService[] {
  return [
    service(ReceiversServiceService, receiversHandlers(deps)),
    service(DeliveriesServiceService, deliveriesHandlers(deps)),
    service(EventsServiceService, eventsHandlers(deps)),
    service(OperatorServiceService, operatorHandlers(deps)),
  ];
}
