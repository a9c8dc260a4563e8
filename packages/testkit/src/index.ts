export { askRedis } from "./ask-redis.ts";
export { manualClock, type ManualClock } from "./clock.ts";
export { createDatabase, dropDatabasesOfRun, type TestDatabase } from "./databases.ts";
export { eventually, type EventuallyOptions } from "./eventually.ts";
export { reserveKafkaServer, startKafkaServer, type KafkaServer } from "./kafka-server.ts";
export { startProcess, type ProcessExit, type ProcessOptions, type ServiceProcess } from "./processes.ts";
export { startRedisCluster, type RedisClusterOptions, type RedisClusterServers } from "./redis-cluster.ts";
export { findRedisServer, startRedisServer, type RedisServer, type RedisSettings } from "./redis-server.ts";
export { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
