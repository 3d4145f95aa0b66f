export { answerQuestion } from "./answer-question.ts";
export type { Answer, HistoryMessage, Passage, Search, SearchResult } from "./answer.ts";
