import type { OperatorServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { check } from "@brand-records/service";
import type { AccountsDependencies } from "../dependencies.ts";
import { keyNotFound } from "../domain/key.ts";
import { findKey } from "../storage/keys.ts";
import { fields } from "./fields.ts";
import { peopleHandlers } from "./people.ts";

export function operatorHandlers({ db }: AccountsDependencies): Handlers<OperatorServiceService> {
  return {
    async findBrand(request) {
      const { id } = check({ id: fields.keyId }, request);
      const key = await findKey(db, id);
      if (key === undefined) throw keyNotFound("id");
      return { brand_id: key.brand_id };
    },
    ...peopleHandlers({ db }),
  };
}
