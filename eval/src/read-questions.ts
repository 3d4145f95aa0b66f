// Sets of questions about documents: a folder a set, with docs/ (files as `svc kb add` reads them), questions.jsonl and
// set.json. A line of questions.jsonl is
//   {"id", "text", "before": [earlier messages], "expect": "answer" | "hold", "all": [patterns that an answer must hold]}
// and set.json may have "group": sets of one group, such as one subject in two languages, are never split; and
// "agentDescription", of the agent that answers from the documents, and "project": agents of one project share messages.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { questionOf, readFollowUp } from "@svc/agents";
import { createFileReader, ensureKb, ingestFile, searchKnowledge } from "@svc/knowledge";
import type { SearchResult } from "@svc/knowledge";
import { openScratchStore } from "./open-scratch-store.ts";
import { forEachShown, readJsonLines } from "./read-set.ts";

/** A question about the documents of a set; `all` are patterns that an answer must match. */
export interface SetQuestion {
  text: string;
  before?: string[];
  expect?: string;
  all?: string[];
}

/** A set of questions about documents. */
export interface QuestionSet {
  name: string;
  group: string;
  description?: string | undefined;
  project?: string | undefined;
  files: string[];
  questions: SetQuestion[];
}

/** A question with the search results of the knowledge bases. */
export interface FoundQuestion {
  set: string;
  group: string;
  text: string;
  expect: string | undefined;
  all: string[];
  asked: string;
  found: SearchResult;
  elsewhere?: SearchResult[];
}

/** Number of passages of a search from which an answer is chosen. */
const SEARCH_LIMIT = 15;

/** Number of unrelated knowledge bases in which each question of `findForQuestions` is also searched. */
const OTHER_BASES = 3;

/** Reads the sets of a folder, or the folder itself if it is a set. */
export function readQuestionSets(folder: string): QuestionSet[] {
  const isSet = (path: string) => existsSync(join(path, "questions.jsonl")) && existsSync(join(path, "docs"));
  const folders = isSet(folder) ? [folder] : readdirSync(folder).map((name) => join(folder, name));
  const sets = folders.filter(isSet).map((path) => {
    const about = (
      existsSync(join(path, "set.json")) ? JSON.parse(readFileSync(join(path, "set.json"), "utf8")) : {}
    ) as { name?: string; group?: string; agentDescription?: string; project?: string };
    const name = about.name ?? relative(join(path, ".."), path);
    return {
      name,
      group: about.group ?? name,
      description: about.agentDescription,
      project: about.project,
      files: listFiles(join(path, "docs")),
      questions: readJsonLines<SetQuestion>(join(path, "questions.jsonl")),
    };
  });
  if (sets.length === 0) throw new Error(`${folder} has no set: a folder with docs/ and questions.jsonl.`);
  return sets;
}

/** Returns whether a text matches every pattern of an answer (with "some": any), ignoring line breaks. */
export function holdsAnswer(text: string, patterns: readonly string[], of: "every" | "some" = "every"): boolean {
  const flat = text.replace(/\s+/g, " ").replace(/[’‘]/g, "'");
  const tests = patterns.map((pattern) => new RegExp(pattern, "i"));
  return tests.length > 0 && tests[of]((pattern) => pattern.test(text) || pattern.test(flat));
}

function listFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? listFiles(path) : [path];
  });
}

/**
 * Adds each set to a knowledge base of a scratch database and searches it for the set's questions: `found` has the
 * results, `elsewhere` those of knowledge bases of other groups.
 */
export async function findForQuestions(sets: readonly QuestionSet[]): Promise<FoundQuestion[]> {
  const { store, log, addProject, close } = await openScratchStore();
  const reader = createFileReader();
  try {
    const project = await addProject("evaluation");
    const bases: { name: string; group: string; id: string }[] = [];
    for (const { name, group, files } of sets) {
      const { kb } = await ensureKb({ store }, project.id, name);
      bases.push({ name, group, id: kb.id });
      await forEachShown(`${name}: added`, files, (path) =>
        ingestFile({ store, log, reader }, project.id, kb.id, { key: path, name: path, bytes: readFileSync(path) }),
      );
    }
    const search = (query: string, kbId = "") =>
      searchKnowledge({ store }, project.id, { query, kbIds: [kbId], limit: SEARCH_LIMIT });
    const rows: FoundQuestion[] = [];
    for (const [at, { name, group, questions }] of sets.entries()) {
      const others = bases.filter((base) => base.group !== group);
      await forEachShown(`${name}: asked`, [...questions.entries()], async ([number, question]) => {
        const { text, before = [], expect, all = [] } = question;
        const history = before.map((said) => ({ author: "customer" as const, text: said }));
        const own = questionOf(text);
        const query = readFollowUp(own, history)?.query ?? own;
        const found = await search(query, bases[at]?.id);
        const elsewhere: SearchResult[] = [];
        for (let other = 0; other < Math.min(OTHER_BASES, others.length); other += 1) {
          elsewhere.push(await search(query, others[(number + other * 5) % others.length]?.id));
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
