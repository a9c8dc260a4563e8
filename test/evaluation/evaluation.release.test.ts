import { openPool, type Database } from "@brand-records/postgres";
import { startStack, type Stack } from "../stack.ts";
import { Assistant } from "./assistant.ts";
import { createDemoBrand } from "./brand.ts";
import type { AnsweredQuestion, Subjects } from "./question.ts";
import { ANSWERED, UNANSWERED } from "./questions/index.ts";
import { evaluationTables, tablesInPage, writeTables, type Effort } from "./table.ts";

/**
 * One promise: what a brand asks can be answered over the assistants' endpoint alone, in few calls. The path of each question is that of a
 * model that makes no mistake; SQL says what is right. `RECORD=1` writes the table in docs/assistants.md, which prettier aligns.
 */

let stack: Stack;
let db: Database;
let brand: { readonly id: string; readonly key: string };
let subjects: Subjects;
const efforts: Effort[] = [];

beforeAll(async () => {
  stack = await startStack();
  db = openPool({ url: stack.databaseUrl, applicationName: "evaluation" });
  brand = await createDemoBrand(stack);
  const [found] = await db.query<Subjects>(SUBJECTS, [brand.id]);
  subjects = found as Subjects;
}, 180_000);
afterAll(async () => {
  await db?.stop();
  await stack?.stop();
});

/** A link as most are: its orders of October fill less than a page. */
const SUBJECTS = `
  select (select id from records.submissions where brand_id = $1 and status = 'rejected' order by created_at desc, id limit 1) as submission,
         (select id from records.payouts where brand_id = $1 and status = 'paid' order by created_at desc, id limit 1) as payout,
         (select id from records.conversions where brand_id = $1 and payout_id is not null order by created_at desc, id limit 1) as conversion,
         (select link_id from records.conversions
           where brand_id = $1 and created_at >= '2026-10-01T00:00:00+08:00' and created_at < '2026-11-02T00:00:00+08:00'
           group by 1 having count(*) < 100 order by count(*) desc, link_id limit 1) as link`;

it.each(ANSWERED.map((question) => [question.question, question] as const))("%s", async (_, question) => {
  const assistant = new Assistant(stack.url, brand.key);
  const answer = await question.answer(assistant, subjects);
  const { sql, values = [] } = question.truth(subjects);
  expect(answer).toEqual(await db.query(sql, [brand.id, ...values]));
  expect(answer).not.toEqual([]);
  expect(assistant.tools.length).toBeLessThanOrEqual(question.callsMax);
  efforts.push({ question, tools: assistant.tools, tokens: assistant.tokens });
});

it("30 questions: at least 24 are answered within five calls, and 18 within two", () => {
  expect(ANSWERED.length + UNANSWERED.length).toBe(30);
  const answeredIn = (calls: number): AnsweredQuestion[] =>
    efforts.filter(({ tools }) => tools.length <= calls).map(({ question }) => question);
  expect(answeredIn(5).length).toBeGreaterThanOrEqual(24);
  expect(answeredIn(2).length).toBeGreaterThanOrEqual(18);
});

it("the instructions let a model know which questions have no answer", async () => {
  const { instructions } = await new Assistant(stack.url, brand.key).connect();
  for (const { instruction } of UNANSWERED) expect(instructions).toContain(instruction);
});

it("docs/assistants.md has the table of this evaluation", () => {
  const tables = evaluationTables(efforts, UNANSWERED);
  if (process.env["RECORD"] === "1") writeTables(tables);
  expect(tablesInPage()).toEqual(tables);
});
