import { describeRpcPort } from "./describe-rpc-port.ts";

describeRpcPort({ connections: 200 });
