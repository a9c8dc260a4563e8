import { type AnsweredQuestion, type UnansweredQuestion, WALK_RULES } from "../question.ts";
import { CAMPAIGN_QUESTIONS } from "./campaigns.ts";
import { DEPOSIT_QUESTIONS, PAYOUT_QUESTIONS } from "./money.ts";
import { LINK_QUESTIONS, ORDER_QUESTIONS } from "./orders.ts";
import { REPORT_QUESTIONS } from "./reports.ts";
import { SUBMISSION_QUESTIONS } from "./submissions.ts";

/** Those that were answered before tools had `fields`, and what their results took: the sum of the table that docs/assistants.md had then. */
export const FIRST_QUESTIONS: readonly AnsweredQuestion[] = [
  ...CAMPAIGN_QUESTIONS,
  ...SUBMISSION_QUESTIONS,
  ...PAYOUT_QUESTIONS,
  ...DEPOSIT_QUESTIONS,
  ...LINK_QUESTIONS,
  ...ORDER_QUESTIONS,
];
export const TOKENS_WITHOUT_FIELDS = 371_700;

/** What a brand asks and the records answer. */
export const ANSWERED: readonly AnsweredQuestion[] = [...FIRST_QUESTIONS, ...REPORT_QUESTIONS];

/** What a brand asks and an assistant cannot answer from the lists. */
export const UNANSWERED: readonly UnansweredQuestion[] = [
  {
    question: "What were all orders of the last twelve months worth?",
    reason:
      "The records say it, but it takes 251 pages of 200 and 1.6 million tokens. The assistant asks first, and offers a shorter period or a script.",
    resource: "conversions",
    rules: [WALK_RULES.asking],
    meanings: ["Often the largest list"],
  },
  {
    question: "Export all orders of the year.",
    reason: "It takes 251 pages and 3 million tokens with four fields. The assistant offers a script, and names its address.",
    resource: "conversions",
    rules: [WALK_RULES.asking, /https?:\/\/[^ ]+/, "/api/v1/"],
  },
  {
    question: "How many orders were approved in October?",
    reason: "When an order was approved or reversed is not recorded.",
    resource: "conversions",
    rules: ["when one was approved or reversed"],
  },
  {
    question: "How many views did our clips gain last week?",
    reason: "Views are counted so far, without a history.",
    resource: "submissions",
    rules: ["earlier views"],
  },
  {
    question: "How much is left on our balance?",
    reason: "The balance is not recorded: deposits are what was paid in.",
    resource: "deposits",
    rules: ["the balance"],
  },
  {
    question: "What did the reviewer write about a rejected submission?",
    reason: "A reviewer's words are not recorded, only the rejection_code.",
    resource: "submissions",
    rules: ["reviewers' words"],
  },
  {
    question: "Export names and addresses of the creators whose links sell most.",
    reason: "Who creators are is not recorded, only a pseudonym.",
    resource: "links",
    rules: ["who creators are"],
  },
];
