export { eventJsonSchema } from "./event-json-schema.ts";
export { EVENT_MESSAGE_BYTES_MAX, eventMessageSchema, readEventMessage, UnreadableMessage } from "./event-message.ts";
export type { EventMessage } from "./event-message.ts";
export { EVENT_TYPE_NAMES, EVENT_TYPES, isEventType, type EventType } from "./event-types.ts";
export { SAMPLE_RECORD_IDS, sampleData } from "./sample-data.ts";
