import { RESOURCES, type ResourceName } from "@brand-records/resources";
import type { z } from "zod";

/** A record to import, normalized by its resource's schema. */
export type ImportedRecord = Readonly<Record<string, string | number | null | undefined | readonly string[]>>;

export interface LineProblem {
  readonly field?: string;
  readonly message: string;
}

export type CheckedLine =
  | { readonly kind: "record"; readonly record: ImportedRecord }
  | { readonly kind: "blank" }
  | { readonly kind: "bad"; readonly problems: readonly LineProblem[] };

const LINE_CHARACTERS_MAX = 1024 * 1024;

/** Checks one line of NDJSON against the resource's schema. Returns the normalized record, or every problem. */
export function checkLine(resource: ResourceName, line: string): CheckedLine {
  if (line.trim() === "") return { kind: "blank" };
  if (line.length > LINE_CHARACTERS_MAX) return bad("is longer than 1 MiB");
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return bad("is not valid JSON");
  }
  // Without reportInput, an issue does not distinguish a missing field from one of the wrong type.
  const parsed = RESOURCES[resource].schema.safeParse(value, { reportInput: true });
  if (parsed.success) return { kind: "record", record: parsed.data };
  return { kind: "bad", problems: parsed.error.issues.flatMap((issue) => problemsOf(issue, resource)) };
}

function problemsOf(issue: z.core.$ZodIssue, resource: ResourceName): LineProblem[] {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => ({ field: key, message: `is not a field of ${resource}` }));
  if (issue.path.length === 0) return [{ message: "must be a JSON object" }];
  return [{ field: issue.path.join("."), message: messageOf(issue) }];
}

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined) return "is missing";
  // Keeps a message that the schema defines. Replaces zod's own, which starts with "Invalid input".
  if (issue.code !== "invalid_type" || !issue.message.startsWith("Invalid input")) return issue.message;
  return `must be ${issue.expected === "array" ? "an" : "a"} ${issue.expected}`;
}

function bad(message: string): CheckedLine {
  return { kind: "bad", problems: [{ message }] };
}
