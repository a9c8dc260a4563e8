import { openPool, type Database } from "@brand-records/postgres";
import { startStack, type Stack } from "../stack.ts";
import { AsksFirst, Assistant, CALLS_MAX, type Tool } from "./assistant.ts";
import { createBrandOf } from "./brand.ts";
import { CLIPS, type Facts, LINKS, type Subjects, WALK_RULES } from "./question.ts";
import { ANSWERED, FIRST_QUESTIONS, TOKENS_WITHOUT_FIELDS, UNANSWERED } from "./questions/index.ts";
import { type Effort, evaluationTables, tablesInPage, writeTables } from "./table.ts";

/**
 * One promise: what a brand asks can be answered over the assistants' endpoint alone, in few calls, also by a model that sees the tools'
 * descriptions only. The path of each question is that of a model that makes no mistake; SQL says what is right. `RECORD=1` writes the table
 * in docs/assistants.md, which prettier aligns.
 */

let stack: Stack;
let db: Database;
const efforts: Effort[] = [];

beforeAll(async () => {
  stack = await startStack();
  db = openPool({ url: stack.databaseUrl, applicationName: "evaluation", statementTimeoutMs: 120_000 });
});
afterAll(async () => {
  await db?.stop();
  await stack?.stop();
});

/** A campaign has the title that the question's text has, if it can. A link as most are: its orders of October fill less than a page. */
const SUBJECTS = `
  with newest as (select distinct on (title) * from records.campaigns where brand_id = $1 order by title, created_at desc),
       one as (select * from records.conversions where brand_id = $1 order by created_at desc, id)
  select (select title from newest where type = 'blitz' and status in ('ended', 'settled')
           order by title <> '${CLIPS}', committed_centavos desc limit 1) as clips,
         (select title from newest where type = 'affiliate' and status = 'paused'
           order by title <> '${LINKS}', committed_centavos desc limit 1) as links,
         (select id from records.submissions where brand_id = $1 and status = 'rejected' order by created_at desc, id limit 1) as submission,
         (select id from records.payouts where brand_id = $1 and status = 'paid' order by created_at desc, id limit 1) as payout,
         (select id from one where payout_id is not null limit 1) as conversion,
         (select external_id from one where status = 'reversed' limit 1) as order,
         (select link_id from records.conversions
           where brand_id = $1 and created_at >= '2026-10-01T00:00:00+08:00' and created_at < '2026-11-02T00:00:00+08:00'
           group by 1 having count(*) < 100 order by count(*) desc, link_id limit 1) as link,
         (select creator_id from records.payouts where brand_id = $1 and status = 'paid' and submission_count > 0
             and creator_id in (select creator_id from records.links where brand_id = $1 and conversions > 0)
           group by 1 order by count(*) desc, creator_id limit 1) as creator`;

describe.each(["demo", "large"] as const)("%s brand", (size) => {
  let brand: { readonly id: string; readonly key: string };
  let subjects: Subjects;
  let instructions: string;
  let tools: readonly Tool[];

  beforeAll(async () => {
    brand = await createBrandOf(stack, size);
    await db.query("analyze");
    [subjects] = (await db.query(SUBJECTS, [brand.id])) as [Subjects];
    ({ instructions, tools } = await new Assistant(stack.url, brand.key).connect());
  }, 1_200_000);

  it.each(ANSWERED.map((question) => [question.question, question] as const))("%s", async (_, question) => {
    const subject = question.about && subjects[question.about];
    const assistant = new Assistant(stack.url, brand.key);
    const answer = await question.answer(assistant, subject ?? "").catch((error: unknown) => {
      if (error instanceof AsksFirst) return undefined;
      throw error;
    });
    const { calls, tokens } = assistant;
    // One that asks first has the words for it: see the rules of every walk.
    const budget = question.budget[size];
    expect(answer === undefined).toBe(budget === undefined);
    if (answer !== undefined && budget !== undefined) {
      expect(lacking(question, calls)).toEqual([]);
      expect(answer).toEqual(await db.query(question.truth, subject === undefined ? [brand.id] : [brand.id, subject]));
      expect(answer).not.toEqual([]);
      expect(calls.length).toBeLessThanOrEqual(budget[0]);
      expect(tokens).toBeLessThanOrEqual(budget[1]);
    }
    efforts.push({ question, size, calls: answer && calls.length, tokens });
  });

  it.each(UNANSWERED.map((question) => [question.question, question] as const))("no answer: %s", (_, question) => {
    expect(lacking(question, [question.resource])).toEqual([]);
  });

  it("every tool and the instructions say how to walk a list", () => {
    const lists = tools.filter(({ name }) => name.startsWith("list_")).map(({ name }) => name.slice("list_".length));
    for (const resource of lists) expect(lacking({ rules: Object.values(WALK_RULES) }, [resource])).toEqual([]);
  });

  /** Those of the large brand that take more than five calls are asked first. */
  it("of 45 questions, at least 38 have a right answer or a rightful refusal within five calls, and 31 of the large brand", () => {
    expect(ANSWERED.length + UNANSWERED.length).toBe(45);
    const right = efforts.filter(({ size: of, calls }) => of === size && calls !== undefined && calls <= CALLS_MAX);
    expect(right.length + UNANSWERED.length).toBeGreaterThanOrEqual({ demo: 38, large: 31 }[size]);
  });

  /** Returns the words that a model would miss: rules in the instructions, and all at the tools that it uses if it sees no instructions. */
  function lacking({ rules, meanings = [] }: Facts, resources: readonly string[]): unknown[] {
    const used = tools.filter(({ name }) => resources.some((resource) => name === `list_${resource}`));
    const texts = used.map(({ description, inputSchema }) => `${description} ${JSON.stringify(inputSchema)}`).join("\n");
    const misses = (text: string) => (words: string | RegExp) => (typeof words === "string" ? !text.includes(words) : !words.test(text));
    return [...rules.filter(misses(instructions)), ...[...rules, ...meanings].filter(misses(texts))];
  }
});

it("the questions answered before take at most a quarter of the tokens that they took without fields", () => {
  const first = efforts.filter(({ question, size }) => size === "demo" && FIRST_QUESTIONS.includes(question));
  const tokens = first.map((effort) => effort.tokens);
  expect(tokens).toHaveLength(25);
  expect(tokens.reduce((total, each) => total + each, 0)).toBeLessThanOrEqual(TOKENS_WITHOUT_FIELDS / 4);
});

it("docs/assistants.md has the table of this evaluation", () => {
  const tables = evaluationTables(efforts, UNANSWERED);
  if (process.env["RECORD"] === "1") writeTables(tables);
  expect(tablesInPage()).toEqual(tables);
});
