export { sendRedisCommand } from "./redis-command.ts";
export { createDatabase, dropDatabasesOfRun, type TestDatabase } from "./create-database.ts";
export { eventually } from "./eventually.ts";
export { makeOwnedFolder, removeOrphanedFolders } from "./owned-folders.ts";
export { reserveKafkaServer, startKafkaServer, type KafkaServer } from "./kafka-server.ts";
export { startProcess, type ProcessOptions, type ServiceProcess } from "./start-process.ts";
export { startRedisCluster, type RedisClusterServers } from "./redis-cluster.ts";
export { findRedisServer, startRedisServer, type RedisServer } from "./redis-server.ts";
export { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
