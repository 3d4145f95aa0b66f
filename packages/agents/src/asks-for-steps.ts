import { tokenize } from "@svc/text";

/** How a question begins that wants to know what to do. Without accents, as words that follow each other. */
const HOW_TO: readonly (readonly [beginning: string, next: string])[] = [
  ["how", "do does can could should to would must"],
  ["wie", "kann können könnte könnten muss soll sollte mache bekomme richte schicke ändere stelle geht funktioniert"],
  ["comment", "faire puis peut on dois dois-je je"],
  ["cómo", "puedo se hago debo podemos hacer"],
  ["como", "posso faço se devo fazer puedo"],
  ["come", "posso si faccio devo fare"],
  ["hoe", "kan moet doe kunnen"],
  ["hur", "kan gör ska"],
  ["hvordan", "kan gør gjør skal"],
];

const STEPS = new Set("steps instructions anleitung schritte étapes pasos passaggi passos stappen".split(" "));

/** True for a question that asks how something is done: "How do I …", "Wie kann ich …", "steps to …". */
export function asksForSteps(question: string): boolean {
  const terms = tokenize(question.slice(0, 300)).map(({ term }) => term);
  return terms.some((term, at) => {
    const next = terms[at + 1] ?? "";
    return STEPS.has(term) || HOW_TO.some(([how, verbs]) => term === how && verbs.split(" ").includes(next));
  });
}
