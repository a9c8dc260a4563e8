import type { AnsweredQuestion, UnansweredQuestion } from "../question.ts";
import { CAMPAIGN_QUESTIONS } from "./campaigns.ts";
import { DEPOSIT_QUESTIONS, PAYOUT_QUESTIONS } from "./money.ts";
import { LINK_QUESTIONS, ORDER_QUESTIONS } from "./orders.ts";
import { SUBMISSION_QUESTIONS } from "./submissions.ts";

/** What a brand asks and the records answer. */
export const ANSWERED: readonly AnsweredQuestion[] = [
  ...CAMPAIGN_QUESTIONS,
  ...SUBMISSION_QUESTIONS,
  ...PAYOUT_QUESTIONS,
  ...DEPOSIT_QUESTIONS,
  ...LINK_QUESTIONS,
  ...ORDER_QUESTIONS,
];

/** What a brand asks and an assistant cannot answer from the lists. */
export const UNANSWERED: readonly UnansweredQuestion[] = [
  {
    question: "What were all orders of the last twelve months worth?",
    reason:
      "The records say it, but it takes 501 pages of 100 and 10 million tokens. The assistant asks first, and offers a shorter period or a script.",
    instruction: "Beyond five pages ask first, say what it takes",
  },
  {
    question: "How many orders were approved in October?",
    reason: "When an order was approved or reversed is not recorded.",
    instruction: "conversions: when one was approved or reversed",
  },
  {
    question: "How many views did our clips gain last week?",
    reason: "Views are counted so far, without a history.",
    instruction: "earlier views",
  },
  {
    question: "How much is left on our balance?",
    reason: "The balance is not recorded: deposits are what was paid in.",
    instruction: "the balance",
  },
  {
    question: "What did the reviewer write about a rejected submission?",
    reason: "A reviewer's words are not recorded, only the rejection_code.",
    instruction: "reviewers' words",
  },
];
