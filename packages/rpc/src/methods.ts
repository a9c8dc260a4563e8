import { METHODS, type MethodFacts } from "@brand-records/proto/methods";

/** What methods say of themselves, by path. */
export type Methods = Readonly<Record<string, MethodFacts>>;

/** Every process serves these two, and `brandctl doctor` asks for them, too. Their .proto file is not ours. */
const HEALTH: MethodFacts = { isIdempotent: false, callers: ["gateway"], actor: "caller" };

/** Every method of this system. */
export const OWN_METHODS: Methods = { ...METHODS, "/grpc.health.v1.Health/Check": HEALTH, "/grpc.health.v1.Health/Watch": HEALTH };
