import { reserveKafkaContainer } from "./kafka-container.ts";
import { reserveKafkaProcess } from "./kafka-process.ts";

/** A Kafka of one's own: one broker, empty, loopback only. It is gone when the process that started it is. */
export interface KafkaServer {
  /** `host:port`, for KAFKA_BROKERS. */
  readonly brokers: string;
  /** Of the process that runs now, or ran last; 0 before the first start. */
  readonly pid: number;
  /** Keeps its connections, accepts more, answers nothing (SIGSTOP). */
  freeze(): Promise<void>;
  /** Answers again, also what was asked meanwhile. */
  thaw(): Promise<void>;
  /** Gone without a word, as by a power cut that spares the disk's cache (SIGKILL); resolves when its port is closed. */
  kill(): Promise<void>;
  /** The first time, or after `kill`: on the same port, with what was written before. Resolves when topics can be created. */
  start(): Promise<void>;
  /** Gone for good, with its data. Any number of calls, in any state. */
  stop(): Promise<void>;
}

/** Somebody may take the free port before Kafka does. */
const START_ATTEMPTS = 5;

/** Starts a Kafka on a free port and resolves when topics can be created. None is until somebody does. */
export async function startKafkaServer(): Promise<KafkaServer> {
  for (let attempt = 1; ; attempt += 1) {
    const server = await reserveKafkaServer();
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.stop();
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

/**
 * A Kafka that is not running yet, and whose port refuses connections until `start`. Runs the jars in `$KAFKA_LIB_DIR`
 * with `$JAVA`, else a container of `$KAFKA_IMAGE`.
 */
export async function reserveKafkaServer(): Promise<KafkaServer> {
  const { KAFKA_LIB_DIR: libDir, JAVA: java, KAFKA_IMAGE: image } = process.env;
  if (libDir !== undefined && java !== undefined) return reserveKafkaProcess({ libDir, java });
  if (image !== undefined) return reserveKafkaContainer(image);
  throw new Error("There is no Kafka. deploy/backing-services/ensure.sh gets one, or says what to install.");
}
