import { BrandRecords } from "@brand-records/client";

export default {
  fetch: async (_, { URL: url }) =>
    new BrandRecords({ url, key: "brk_live_x", deadlineMs: 5_000 })
      .payouts()
      .page()
      .then(
        ({ meta }) => new Response(meta.brandId),
        ({ message }) => new Response(message),
      ),
};
