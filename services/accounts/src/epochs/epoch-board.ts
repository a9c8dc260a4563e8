/** Where gateways see which epoch of a brand is current. Publishing never lowers one. */
export interface EpochBoard {
  /** Never rejects: what could not be published now is published again by the republisher. */
  publish(brandId: string, epoch: number): Promise<void>;
}

/** Without Redis gateways cache nothing and ask for every request, so there is nobody to tell. */
export const noEpochBoard: EpochBoard = { publish: async () => {} };
