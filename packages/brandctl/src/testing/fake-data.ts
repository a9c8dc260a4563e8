interface Result {
  readonly deleted: { kind: string; rows: number }[];
  readonly done: boolean;
  readonly waiting_for?: string;
}

/** What a service has of a brand that is deleted: the results of its calls, in order. Afterwards there is nothing left. */
export class FakeData {
  readonly results: Partial<Result>[] = [];
  /** Called with each call. */
  onCall: () => void = () => {};

  readonly deleteBrandData = async (): Promise<Result> => {
    this.onCall();
    return { deleted: [], done: true, ...this.results.shift() };
  };
}
