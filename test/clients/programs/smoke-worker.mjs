import { smoke } from "./smoke.mjs";

export default {
  fetch: async (_, env) =>
    smoke(env).then(
      (results) => Response.json(results),
      (error) => new Response(error.stack, { status: 500 }),
    ),
};
