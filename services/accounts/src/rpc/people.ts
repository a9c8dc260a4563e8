import { parseRequest } from "@brand-records/errors";
import type { OperatorServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { z } from "zod";
import type { AccountsDependencies } from "../dependencies.ts";
import { beginErasure, erasePerson } from "../use-cases/erase-person.ts";
import { exportPerson } from "../use-cases/export-person.ts";
import { fields } from "./fields.ts";

type PeopleHandlers = Pick<Handlers<OperatorServiceService>, "exportPerson" | "beginErasure" | "erasePerson">;

/** What is kept about a person: the operator's part. */
export function peopleHandlers({ db }: Pick<AccountsDependencies, "db">): PeopleHandlers {
  return {
    async exportPerson(request) {
      const { email, page_size, page_token } = parseRequest(exportFields, request);
      return exportPerson(db, email, page_size, page_token ?? null);
    },
    async beginErasure(request) {
      const { email } = parseRequest({ email: fields.email }, request);
      return beginErasure(db, email);
    },
    async erasePerson(request, { requestId }) {
      const { email, brand_ids } = parseRequest({ email: fields.email, brand_ids: z.array(fields.brandId) }, request);
      return { brand_ids: await erasePerson(db, email, brand_ids, requestId) };
    },
  };
}

const exportFields = { email: fields.email, page_size: fields.exportPageSize, page_token: z.string().nullish() };
