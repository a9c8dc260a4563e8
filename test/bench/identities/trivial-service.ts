import type { MethodDefinition } from "@grpc/grpc-js";

const pass = (bytes: Buffer): Buffer => bytes;

type Unary = MethodDefinition<Buffer, Buffer> & { readonly requestStream: false; readonly responseStream: false };

/** A method that costs nothing itself: it returns its few bytes. */
export const TrivialService = {
  same: {
    path: "/bench.v1.TrivialService/Same",
    requestStream: false,
    responseStream: false,
    requestSerialize: pass,
    requestDeserialize: pass,
    responseSerialize: pass,
    responseDeserialize: pass,
  } as Unary,
};
