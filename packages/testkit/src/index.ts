export { sendRedisCommand } from "./redis-command.ts";
export { manualClock, type ManualClock } from "./manual-clock.ts";
export { createDatabase, dropDatabasesOfRun, type TestDatabase } from "./create-database.ts";
export { eventually, type EventuallyOptions } from "./eventually.ts";
export { reserveKafkaServer, startKafkaServer, type KafkaServer } from "./kafka-server.ts";
export { startProcess, type ProcessExit, type ProcessOptions, type ServiceProcess } from "./start-process.ts";
export { startRedisCluster, type RedisClusterOptions, type RedisClusterServers } from "./redis-cluster.ts";
export { findRedisServer, startRedisServer, type RedisServer, type RedisSettings } from "./redis-server.ts";
export { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
