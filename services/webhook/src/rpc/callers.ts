import type {
  DeliveriesServiceService,
  EventsServiceService,
  IntakeServiceService,
  OperatorServiceService,
  ReceiversServiceService,
} from "@brand-records/proto/webhook/v1";
import type { Callers } from "@brand-records/rpc";

/** Who may call which method, beside the operator. docs/security.md has the table. */
export const RECEIVERS_CALLERS: Callers<ReceiversServiceService> = {
  createReceiver: ["console"],
  getReceiver: ["console"],
  listReceivers: ["console"],
  updateReceiver: ["console"],
  enableReceiver: ["console"],
  disableReceiver: ["console"],
  deleteReceiver: ["console"],
  rotateSecret: ["console"],
  activateSecret: ["console"],
  sendTest: ["console"],
};

export const DELIVERIES_CALLERS: Callers<DeliveriesServiceService> = {
  listDeliveries: ["console"],
  getDelivery: ["console"],
  replayDelivery: ["console"],
  getDeliveryStats: ["console"],
  replayEvents: ["console"],
  countReplay: ["console"],
  getLatestReplay: ["console"],
  cancelReplay: ["console"],
};

export const EVENTS_CALLERS: Callers<EventsServiceService> = { getEvent: ["console"], listEvents: ["console"] };

/** Who may publish a message can have an event signed. */
export const INTAKE_CALLERS: Callers<IntakeServiceService> = { publishMessages: ["records"] };

export const OPERATOR_CALLERS: Callers<OperatorServiceService> = { findBrand: ["console"] };
