import type { Sql } from "@brand-records/postgres";
import { requireReceiver, type Receiver, type ReceiverKey } from "../domain/receiver.ts";
import { findReceiver, listReceivers } from "../storage/receivers.ts";

/** @throws AppError `not_found` */
export const getReceiver = async (db: Sql, key: ReceiverKey): Promise<Receiver> => requireReceiver(await findReceiver(db, key));

/** Returns the brand's receivers, oldest first. */
export const receiversOf = (db: Sql, brandId: string): Promise<Receiver[]> => listReceivers(db, brandId);
