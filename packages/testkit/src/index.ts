export { CertificateAuthority, type IssuedCertificate } from "./certificate-authority.ts";
export { sendRedisCommand } from "./redis-command.ts";
export { startConnectProxy, type ConnectAnswer, type ConnectProxy } from "./connect-proxy.ts";
export { ControlledProcess, startReserved } from "./controlled-server.ts";
export { countBuffers, type Buffers } from "./count-buffers.ts";
export { createDatabase, dropDatabasesOfRun, type TestDatabase } from "./create-database.ts";
export { startDnsServer, type DnsServer } from "./dns-server.ts";
export { eventually } from "./eventually.ts";
export { killWithParent, startProcess, type ProcessOptions, type ServiceProcess } from "./start-process.ts";
export { makeOwnedFolder, removeOrphanedFolders } from "./owned-folders.ts";
export {
  reserveKafkaServer,
  startKafkaServer,
  startSecondKafkaServer,
  startSecuredKafkaServer,
  type KafkaServer,
  type SecuredKafkaServer,
} from "./kafka-server.ts";
export { losingCommitAnswer } from "./losing-commit-answer.ts";
export { startPostgresServer, type PostgresServer } from "./postgres-server.ts";
export { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from "./otlp-receiver.ts";
export { startRedisCluster, type RedisClusterServers } from "./redis-cluster.ts";
export { findRedisServer, startRedisServer, type RedisServer } from "./redis-server.ts";
export { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
export { newTestKey, TestIssuer, withToken, type ProviderSignIn, type TestClaims, type TestKey } from "./test-issuer.ts";
