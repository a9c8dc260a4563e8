/** Where gateways see which epoch of a brand is current. Publishing never lowers one. */
export interface EpochPublisher {
  /** Answers whether it could be published; what could not be is published again by the republisher. */
  publish(brandId: string, epoch: number): Promise<boolean>;
}

/** Without Redis: principals are answered as not cacheable, gateways ask for every request, and there is nobody to tell. */
export const noEpochPublisher: EpochPublisher = { publish: async () => true };
