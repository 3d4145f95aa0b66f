import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { questionOf } from "@svc/agents";
import { questionTerms } from "@svc/knowledge";
import { newId } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { GAP_QUESTIONS, LATER_GAP_QUESTIONS } from "./gap-questions.ts";
import type { GapGroup } from "./gap-questions.ts";
import { openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(() => db.close());

async function note(text: string, language: string | null): Promise<string> {
  const question = questionOf(text);
  const terms = await questionTerms(db, question, language);
  const asked = { messageId: newId(), ticketId: newId(), text, question, terms, language, agentId: null };
  const gapId = await db.store.gaps.record(project, asked);
  if (gapId === null) throw new Error("a new message was taken for a known one");
  return gapId;
}

/** Records all questions in one order and compares the resulting groups with the expected ones. */
async function measure(groups: readonly GapGroup[], isBackwards: boolean) {
  project = await db.newProject();
  const asked = groups.flatMap(({ language, questions }, group) =>
    questions.map((text) => ({ group, text, language })),
  );
  const noted: { group: number; text: string; gapId: string }[] = [];
  for (const { group, text, language } of isBackwards ? asked.reverse() : asked) {
    noted.push({ group, text, gapId: await note(text, language) });
  }
  const pairs = noted.flatMap((one, index) => noted.slice(index + 1).map((other) => ({ one, other })));
  const together = pairs.filter(({ one, other }) => one.gapId === other.gapId);
  const same = pairs.filter(({ one, other }) => one.group === other.group);
  const right = together.filter(({ one, other }) => one.group === other.group);
  const wrong = together.filter(({ one, other }) => one.group !== other.group);
  return {
    precision: right.length / together.length,
    recall: right.length / same.length,
    wrong: wrong.map(({ one, other }) => `${one.text} = ${other.text}`),
  };
}

// Measured by pairs: all pairs that were grouped have the same meaning (precision 1.00), and of pairs with the same
// meaning 88 of 100 were grouped (recall 0.88). The threshold was chosen with this set.
test.each([false, true])("questions with the same meaning are grouped, and no others (backwards: %s)", async (back) => {
  const { precision, recall, wrong } = await measure(GAP_QUESTIONS, back);
  expect({ wrong }).toEqual({ wrong: [] });
  expect(precision).toBe(1);
  expect(recall).toBeGreaterThanOrEqual(0.88);
});

// Measured: precision 1.00, recall 0.65. Missed pairs use other words ("Where is my parcel?", "My parcel has not
// arrived"). A missed pair only adds a separate gap to review; a wrong pair would hide a question.
test("so are questions that the threshold was not chosen with", async () => {
  const { precision, recall } = await measure(LATER_GAP_QUESTIONS, false);
  expect(precision).toBeGreaterThanOrEqual(0.95);
  expect(recall).toBeGreaterThanOrEqual(0.6);
});
