import { z } from "zod";
import { parseEnv } from "./parse-env.ts";
import { origin, share, trueOrFalse } from "./settings.ts";

export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: origin
    .optional()
    .describe("Receives [traces](tracing.md) by OTLP, such as `http://localhost:4318`. Without it tracing is off."),
  OTEL_TRACES_SAMPLER_ARG: share(0.01).describe("Share of the traces that begin here that are sampled."),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(["http/protobuf", "http/json", "grpc"], "must be http/protobuf, http/json or grpc")
    .meta({ unset: "`http/protobuf`" })
    .optional()
    .describe("How traces are sent."),
  // Another exporter would write into the log.
  OTEL_TRACES_EXPORTER: z
    .enum(["otlp", "none"], "must be otlp or none")
    .meta({ unset: "`otlp`" })
    .optional()
    .describe("With `none`, tracing is off."),
  OTEL_SDK_DISABLED: trueOrFalse.meta({ unset: "`false`" }).optional().describe("With `true`, tracing is off."),
} as const;

const Settings = z.object(tracingSettings);

export type TracingConfig = Readonly<z.output<typeof Settings>>;

/** Serves programs without other settings of this kind. @throws ConfigError */
export const parseTracing = (env: NodeJS.ProcessEnv): TracingConfig => parseEnv(Settings, env);
