export { answerQuestion } from "./answer-question.ts";
export type { Answer, HistoryMessage, Passage, Search, SearchResult } from "./answer.ts";
export { chooseAgent } from "./choose-agent.ts";
export type { AgentChoice } from "./choose-agent.ts";
