import { exitWithParent } from "./serve-variant.ts";
import { RecordsServiceService, type ListConversionsResponse, type ListRequest } from "@brand-records/proto/records/v1";
import { Server, ServerCredentials, type handleUnaryCall } from "@grpc/grpc-js";
import { openPages } from "./page.ts";

/** Variant `bare`: the process behind gRPC. */
const pageOf = await openPages(process.env["DATABASE_URL"] ?? "");

const listConversions: handleUnaryCall<ListRequest, ListConversionsResponse> = ({ request }, callback) => {
  pageOf(request.brand_id, request.limit, request.cursor ?? null).then(
    (page) => callback(null, page),
    (error: Error) => callback(error),
  );
};

const server = new Server();
server.addService({ listConversions: RecordsServiceService.listConversions }, { listConversions });
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  process.send?.({ ready: { port } });
});
exitWithParent();
