import { describeEventLog } from "../../test/describe-event-log.ts";
import { configOf, openKafkaLog } from "../../test/kafka-config.ts";

describeEventLog("Kafka", () => openKafkaLog(configOf(process.env["TEST_KAFKA_BROKERS"])));
