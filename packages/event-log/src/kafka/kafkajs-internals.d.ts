declare module "kafkajs/src/network/requestQueue/index.js" {
  const RequestQueue: { readonly prototype: object };
  export default RequestQueue;
}
