export function readQuestionSets() {}
export function findForQuestions() {}
