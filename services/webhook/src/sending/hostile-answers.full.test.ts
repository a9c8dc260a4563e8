import { describeHostileAnswers } from "../../test/describe-hostile-answers.ts";

describeHostileAnswers({ attempts: 10_000 });
