import { createDatabase, type TestDatabase } from "@brand-records/testkit";
import { countPendingMigrations } from "./migrate.ts";
import { MigrationError } from "./migration-files.ts";
import { startFailureOf } from "./start-failure.ts";

/** One promise: a start waits for a database that is away, and ends if the settings are wrong. */

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase("empty")));
afterAll(() => database.drop());

const failureWith = async (url: string) =>
  startFailureOf(await countPendingMigrations({ url, schema: "shop", directory: import.meta.dirname }).catch((error: unknown) => error));
const urlWith = (change: Partial<URL>): string => Object.assign(new URL(database.url), change).href;

it.each<[string, () => string, string]>([
  ["the password", () => urlWith({ password: "wrong-password" }), "password authentication failed"],
  ["the login", () => urlWith({ username: "stranger_to_all" }), "password authentication failed"],
  ["the database", () => urlWith({ pathname: "/no_such_database" }), 'database "no_such_database" does not exist'],
  ["TLS, which the server does not offer,", () => urlWith({ search: "?sslmode=verify-full" }), "does not support SSL"],
  ["the file of an authority", () => urlWith({ search: "?sslmode=verify-full&sslrootcert=/no/such/ca.pem" }), "/no/such/ca.pem"],
])("%s is wrong: the settings are, and the message has no password", async (_, url, problem) => {
  const failure = await failureWith(url());
  expect(failure).toEqual({ kind: "settings", problem: expect.stringContaining(problem) });
  expect(JSON.stringify(failure)).not.toContain("wrong-password");
});

it.each<[string, () => string, string]>([
  ["a closed port", () => urlWith({ port: "1" }), "connection"],
  ["a name that does not exist yet", () => urlWith({ hostname: "postgres.invalid" }), "connection"],
])("%s passes", async (_, url, failure) => {
  expect(await failureWith(url())).toMatchObject({ kind: "passing", failure });
});

it.each([
  ["57P03", "connection"],
  ["53300", "resources"],
  ["55P03", "lock"],
  ["25006", "read_only"],
])("SQLSTATE %s during a migration passes", (code, failure) => {
  const cause = Object.assign(new Error("No"), { code });
  expect(startFailureOf(new MigrationError("0001-first.sql: No", { cause }))).toMatchObject({ kind: "passing", failure });
});

it("a migration that fails neither passes nor is a setting", () => {
  const cause = Object.assign(new Error("division by zero"), { code: "22012" });
  expect(startFailureOf(new MigrationError("0001-first.sql: division by zero", { cause }))).toBeUndefined();
});
