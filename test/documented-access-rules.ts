import { readFileSync } from "node:fs";

/** An access rule of Kafka, with the words of `kafka-acls.sh`. */
export interface KafkaRule {
  readonly principal: string;
  readonly operation: string;
  readonly resource: "topic" | "group";
  readonly name: string;
  readonly isPrefix: boolean;
}

const page = (): string => readFileSync("docs/security.md", "utf8");

/** Returns the rules that the commands in docs/security.md set. */
export function documentedKafkaRules(): KafkaRule[] {
  const commands = page().match(/^kafka-acls\.sh .+$/gm) ?? [];
  return commands.flatMap((command) => {
    const valuesOf = (option: string): string[] =>
      [...command.matchAll(new RegExp(`--${option} '?([^' ]+)`, "g"))].map(([, value = ""]) => value);
    const isPrefix = valuesOf("resource-pattern-type")[0] === "prefixed";
    const resources = (["topic", "group"] as const).flatMap((resource) => valuesOf(resource).map((name) => ({ resource, name })));
    return valuesOf("allow-principal").flatMap((principal) =>
      valuesOf("operation").flatMap((operation) => resources.map((each) => ({ principal, operation, isPrefix, ...each }))),
    );
  });
}

/** Returns the lines for Redis' `aclfile` in docs/security.md, with these passwords by login. */
export function documentedRedisUsers(passwords: Readonly<Record<string, string>>): string {
  const lines = page().match(/^user \w+ .+$/gm) ?? [];
  return lines.map((line) => `${line.replace(">PASSWORD", `>${passwords[line.split(" ")[1] ?? ""]}`)}\n`).join("");
}
