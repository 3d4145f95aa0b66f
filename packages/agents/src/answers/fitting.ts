/** What `scripts/eval/fit-answers.mjs` needs to fit the weights of answers; the product itself uses `chooseAnswer`. */
export { answerWeights, chooseParts, gateFigures, stepsBonus } from "./choose-answer.ts";
export { ratePassages } from "./rate-passages.ts";
export { readQuestion } from "./read-question.ts";
export { readFollowUp } from "../follow-up.ts";
export { questionOf } from "../question-of.ts";
