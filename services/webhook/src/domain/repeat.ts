/** Within this time a delivery is not sent again once more: somebody pressed twice, or a call was repeated. */
export const REPEAT_SECONDS = 5;

/** Another delivery of the same event to the same receiver. */
export interface DeliveryReference {
  readonly id: string;
  readonly created_at: string;
}

/** A delivery that sends a finished one again. */
export interface Repeat extends DeliveryReference {
  readonly is_finished: boolean;
  readonly age_seconds: number;
}

/** Tells whether a repeat stands for another request to send the same delivery again: it waits, is being sent, or is only seconds old. */
export const isPresent = ({ is_finished, age_seconds }: Pick<Repeat, "is_finished" | "age_seconds">): boolean =>
  !is_finished || age_seconds < REPEAT_SECONDS;
