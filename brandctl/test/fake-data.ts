interface Result {
  readonly deleted: { kind: string; rows: number }[];
  readonly done: boolean;
  readonly waiting_for?: string;
  readonly outbox_after: number;
}

/** What a service has of a brand that is deleted: the results of its calls, in order. Afterwards there is nothing left. */
export class FakeData {
  readonly results: Partial<Result>[] = [];
  /** Called with each call. */
  onCall: () => void = () => {};

  /** Places in the outbox from which calls went on. */
  readonly searchedFrom: (number | undefined)[] = [];

  readonly deleteBrandData = async (request: { readonly brand_id: string; readonly outbox_after?: number }): Promise<Result> => {
    this.onCall();
    this.searchedFrom.push(request.outbox_after);
    return { deleted: [], done: true, outbox_after: 0, ...this.results.shift() };
  };
}
