import type { Attempt, Delivery, Receiver } from "@brand-records/proto/webhook/v1";

const NOW = "2026-11-21T08:30:00.000Z";

export const receiverOf = (given: Partial<Receiver> = {}): Receiver => ({
  id: "rcv_1",
  brand_id: "brd_1",
  url: "https://hooks.ulap.example/events?token=tok3n",
  label: "Ledger",
  events: ["payout.paid"],
  enabled: true,
  failures: 0,
  waiting: 0,
  waiting_due: 0,
  in_flight: 0,
  max_in_flight: 64,
  rotating: false,
  failures_in_a_row: 0,
  created_at: NOW,
  updated_at: NOW,
  ...given,
});

export const deliveryOf = (given: Partial<Delivery> = {}): Delivery => ({
  id: "dlv_1",
  receiver_id: "rcv_1",
  event_id: "evt_1",
  event_type: "payout.paid",
  state: "pending",
  attempts: 0,
  test: false,
  created_at: NOW,
  sign_with_next: false,
  ...given,
});

export const attemptOf = (given: Partial<Attempt> = {}): Attempt => ({
  id: "att_1",
  attempt: 1,
  started_at: "2026-11-21T08:30:01.000Z",
  duration_ms: 1_250,
  outcome: "refused",
  http_status: 500,
  error: "status 500",
  response: Buffer.from("no"),
  request_headers: [],
  ...given,
});
