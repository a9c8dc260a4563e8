import { describeEventLog } from "../../test/describe-event-log.ts";
import { openKafkaLog } from "../../test/kafka-config.ts";

describeEventLog("Kafka", () => openKafkaLog());
