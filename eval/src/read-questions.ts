// Sets of questions about documents: a folder a set, with docs/ (files as `svc kb add` reads them), questions.jsonl and
// set.json. A line of questions.jsonl is
//   {"id", "text", "before": [earlier messages], "expect": "answer" | "hold", "all": [patterns that an answer must hold]}
// and set.json may have "group": sets of one group, such as one subject in two languages, are never split; and
// "agentDescription", of the agent that answers from the documents, and "project": agents of one project share messages.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { questionOf, readFollowUp } from "@svc/agents";
import { createFileReader, ensureKb, ingestFile, searchKnowledge } from "@svc/knowledge";
import { openScratchStore } from "./open-scratch-store.ts";
import { forEachShown } from "./show-progress.ts";

/** Passages of a search that an answer is chosen among. */
const SEARCH_LIMIT = 15;

/** Each question of `findForQuestions` is also searched for in this many knowledge bases that are not about it. */
const OTHER_BASES = 3;

/** Reads the sets of a folder, or the one set that it is. */
export function readQuestionSets(folder) {
  const isSet = (path) => existsSync(join(path, "questions.jsonl")) && existsSync(join(path, "docs"));
  const folders = isSet(folder) ? [folder] : readdirSync(folder).map((name) => join(folder, name));
  const sets = folders.filter(isSet).map((path) => {
    const about = existsSync(join(path, "set.json")) ? JSON.parse(readFileSync(join(path, "set.json"), "utf8")) : {};
    const name = about.name ?? relative(join(path, ".."), path);
    const questions = readFileSync(join(path, "questions.jsonl"), "utf8").trim().split("\n");
    return {
      name,
      group: about.group ?? name,
      description: about.agentDescription,
      project: about.project,
      files: listFiles(join(path, "docs")),
      questions: questions.map((line) => JSON.parse(line)),
    };
  });
  if (sets.length === 0) throw new Error(`${folder} has no set: a folder with docs/ and questions.jsonl.`);
  return sets;
}

/** Whether a text holds every pattern that an answer must hold (with "some": any), whatever its line breaks. */
export function holdsAnswer(text, patterns, of = "every") {
  const flat = text.replace(/\s+/g, " ").replace(/[’‘]/g, "'");
  const tests = patterns.map((pattern) => new RegExp(pattern, "i"));
  return tests.length > 0 && tests[of]((pattern) => pattern.test(text) || pattern.test(flat));
}

function listFiles(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? listFiles(path) : [path];
  });
}

/**
 * Puts each set into a knowledge base of a scratch database and searches it for the set's questions: `found`, and in
 * `elsewhere` what bases of other groups have for them.
 */
export async function findForQuestions(sets) {
  const { store, log, addProject, close } = await openScratchStore();
  const reader = createFileReader();
  try {
    const project = await addProject("evaluation");
    const bases = [];
    for (const { name, group, files } of sets) {
      const { kb } = await ensureKb({ store }, project.id, name);
      bases.push({ name, group, id: kb.id });
      await forEachShown(`${name}: added`, files, (path) =>
        ingestFile({ store, log, reader }, project.id, kb.id, { key: path, name: path, bytes: readFileSync(path) }),
      );
    }
    const search = (query, kbId) =>
      searchKnowledge({ store }, project.id, { query, kbIds: [kbId], limit: SEARCH_LIMIT });
    const rows = [];
    for (const [at, { name, group, questions }] of sets.entries()) {
      const others = bases.filter((base) => base.group !== group);
      await forEachShown(`${name}: asked`, [...questions.entries()], async ([number, question]) => {
        const { text, before = [], expect, all = [] } = question;
        const history = before.map((said) => ({ author: "customer", text: said }));
        const own = questionOf(text);
        const query = readFollowUp(own, history)?.query ?? own;
        const found = await search(query, bases[at].id);
        const elsewhere = [];
        for (let other = 0; other < Math.min(OTHER_BASES, others.length); other += 1) {
          elsewhere.push(await search(query, others[(number + other * 5) % others.length].id));
        }
        const asked = query === own ? own : `${own} ${query}`;
        rows.push({ set: name, group, text, expect, all, asked, found, elsewhere });
      });
    }
    return rows;
  } finally {
    await reader.close?.();
    await close();
  }
}
