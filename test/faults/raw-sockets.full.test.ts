import { describeRawSockets } from "./raw-sockets.ts";

describeRawSockets({ connections: 2_000 });
