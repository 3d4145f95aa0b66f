export { HISTORY_LIMIT, SEARCH_LIMIT, promisesPerson, sendsAnswer } from "./answer.ts";
export { answerQuestion } from "./answer-question.ts";
export type {
  AnswerModel,
  CallResult,
  Answer,
  HistoryMessage,
  ModelPart,
  OnText,
  Passage,
  Search,
  SearchResult,
} from "./answer.ts";
export type { ModelCatalogue } from "./catalogue/open-model-catalogue.ts";
export type { CatalogueModel } from "./catalogue/create-ollama.ts";
export { openModelCatalogue } from "./catalogue/open-model-catalogue.ts";
export { PullError } from "./catalogue/create-ollama.ts";
export type {
  ChatTool,
  LanguageModel,
  LanguageModels,
  ModelProviderConfig,
  ModelsConfig,
} from "./models/language-model.ts";
export { followModels } from "./models/follow-models.ts";
export type { FindModelsConfig } from "./models/follow-models.ts";
export { modelProviderOf } from "./models/language-model.ts";
export { openLanguageModels } from "./models/open-language-models.ts";
export { NOTES_LIMITS } from "./notes/read-notes-with-model.ts";
export type { NotesModel, NotesSummary } from "./notes/read-notes-with-model.ts";
export type { NoteIssue, NoteQuote } from "./notes/find-issues.ts";
export { summarizeNotes } from "./notes/summarize-notes.ts";
export { questionAsWritten, questionOf, withoutCourtesies } from "./question-of.ts";
export { classifyMessage, contextAfter, needsNoReply } from "./talk/classify-message.ts";
export type { MessageClass, MessageContext, MessageKind } from "./talk/classify-message.ts";
export { createTalkRecognizer, automaticText, isForPerson, replyToTalk, whyOfTalk } from "./talk/recognize-talk.ts";
export type { TalkRecognizer, AutomaticText } from "./talk/recognize-talk.ts";
export type { CallableTool, OpenedTool, ToolOutcome } from "./tools/callable-tool.ts";
export { findSchemaProblem, NO_CONVERSATION, type ToolCustomer } from "./tools/check-arguments.ts";
export { createToolOpener, openHeaders, offerTools, handleReadOnlyCalls, outcomeText } from "./tools/offer-tools.ts";
export type { ToolOpener, RequestedCall } from "./tools/offer-tools.ts";
export { isMarkOf, markOfTool } from "./tools/callable-tool.ts";
export { chooseAgent, chooseAmongProjects, chooseWithModel } from "./triage/choose-agent.ts";
export type { AgentChoice, SearchEach, PoolChoice } from "./triage/choose-agent.ts";
export { decide } from "./triage/decide.ts";
export type { TriageDecision } from "./triage/decide.ts";
export { openTriageModels } from "./triage/open-triage-models.ts";
export type { TriageKnowledge, TriageModels } from "./triage/open-triage-models.ts";
export { createAgentPool, samplesOf } from "./triage/triage-model.ts";
export type { AgentPool, PooledProject, TriageModel, LearnedMessage, TriageSample } from "./triage/triage-model.ts";
export { trainTriage } from "./triage/train-triage.ts";

// Exports for `eval/`, which fits the weights of answers and of corrections in notes.
export { answerWeights, chooseParts, gateFigures, stepsBonus } from "./answers/choose-answer.ts";
export { ratePassages } from "./answers/rate-passages.ts";
export { readQuestion } from "./answers/read-question.ts";
export { readFollowUp } from "./follow-up.ts";
export { applyReading } from "./notes/repair-sentence.ts";
export { noteWords } from "./notes/note-words.ts";
export { repairCandidates } from "./notes/repair-candidates.ts";
export { findRepairCues } from "./notes/repair-cues.ts";
