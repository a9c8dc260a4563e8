// Reads a page of a service whose certificate is of an authority of its own, through a proxy if there is one.
import process from "node:process";
import { BrandRecords } from "@brand-records/client";

const records = new BrandRecords({ url: process.env.URL, key: "brk_live_x", deadlineMs: 10_000 });
console.log(
  await records
    .payouts()
    .page()
    .then(
      ({ meta }) => meta.brandId,
      ({ message }) => message,
    ),
);
