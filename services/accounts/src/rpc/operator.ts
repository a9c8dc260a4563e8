import { parseRequest } from "@brand-records/errors";
import type { OperatorServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { z } from "zod";
import type { AccountsDependencies } from "../dependencies.ts";
import { QUIET_SECONDS } from "../domain/brand.ts";
import { recordOf } from "../use-cases/audit.ts";
import { beginBrandDeletion, finishBrandDeletion } from "../use-cases/delete-brand.ts";
import { beginBrandMove, endBrandMove, listBrandMoves, switchBrandMove } from "../use-cases/move-brand.ts";
import { beginErasure, erasePerson, exportPerson } from "../use-cases/people.ts";
import { findBrandOfKey } from "../use-cases/keys.ts";
import { entryOf, fields } from "./fields.ts";

export function operatorHandlers(deps: AccountsDependencies): Handlers<OperatorServiceService> {
  return {
    async findBrand(request) {
      const { id } = parseRequest({ id: fields.keyId }, request);
      return { brand_id: await findBrandOfKey(deps.db, id) };
    },
    async beginBrandDeletion(request, { requestId }) {
      const { brand_id } = parseRequest({ brand_id: fields.brandId }, request);
      const deletion = await beginBrandDeletion(deps, brand_id, { resume: request.resume, requestId });
      return { ...deletion, quiet_ms: QUIET_SECONDS * 1_000 };
    },
    async finishBrandDeletion(request) {
      const { brand_id } = parseRequest({ brand_id: fields.brandId }, request);
      return finishBrandDeletion(deps, brand_id);
    },
    ...moveHandlers(deps),
    ...peopleHandlers(deps),
  };
}

type MoveHandlers = Pick<Handlers<OperatorServiceService>, "beginBrandMove" | "switchBrandMove" | "endBrandMove" | "listBrandMoves">;

/** Moves between cells of records. */
function moveHandlers(deps: AccountsDependencies): MoveHandlers {
  const { db } = deps;
  const moveFields = { brand_id: fields.brandId, started_at: z.string() };
  return {
    async beginBrandMove(request, call) {
      const { brand_id, cell = null } = parseRequest({ brand_id: fields.brandId, cell: fields.cell.nullish() }, request);
      return { move: await beginBrandMove(db, brand_id, cell, recordOf(deps, call)) };
    },
    async switchBrandMove(request, call) {
      await switchBrandMove(deps, parseRequest(moveFields, request), recordOf(deps, call));
      return {};
    },
    async endBrandMove(request, call) {
      await endBrandMove(db, parseRequest(moveFields, request), request.abort, recordOf(deps, call));
      return {};
    },
    listBrandMoves: async () => ({ moves: await listBrandMoves(db) }),
  };
}

type PeopleHandlers = Pick<Handlers<OperatorServiceService>, "exportPerson" | "beginErasure" | "erasePerson">;

/** What is kept about a person: the operator's part. */
function peopleHandlers({ db }: Pick<AccountsDependencies, "db">): PeopleHandlers {
  return {
    async exportPerson(request) {
      const { email, page_size, page_token } = parseRequest(exportFields, request);
      return exportPerson(db, email, page_size, page_token ?? null);
    },
    async beginErasure(request) {
      const { email } = parseRequest({ email: fields.email }, request);
      return beginErasure(db, email);
    },
    async erasePerson(request, call) {
      const { email, brand_ids } = parseRequest({ email: fields.email, brand_ids: z.array(fields.brandId) }, request);
      return { brand_ids: await erasePerson(db, email, brand_ids, entryOf(call, {})) };
    },
  };
}

const exportFields = { email: fields.email, page_size: fields.exportPageSize, page_token: z.string().nullish() };
