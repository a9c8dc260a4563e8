// What the documents' examples take for granted.
import type { BrandRecords as Records, SyncStore } from "@brand-records/client";

declare global {
  const process: { readonly env: Readonly<Record<string, string | undefined>> };
  const app: { post(path: string, handler: (...given: any) => unknown): void };
  const records: Records;
  const BrandRecords: typeof Records;
  const url: string;
  const key: string;
  const link: string;
  const store: SyncStore & ((records: readonly unknown[]) => Promise<void>);
  const storeOnce: (id: string, value: string | number) => Promise<void>;
  const rawBody: Uint8Array;
  const headers: Headers;
  let count: number;
}
