import type { Agent } from "@svc/contracts";
import type { EvalLine, LineFault } from "./eval-line.ts";
import { suggestNames } from "./suggest-names.ts";

/** A document as a line may name it. */
export interface NamedDocument {
  id: string;
  key: string;
  title: string;
  url: string | null;
}

/** A line whose names are known. What is not said is undefined. */
export interface ResolvedLine {
  line: number;
  /** Its own, or its number in the file. */
  id: string;
  text: string;
  chat: EvalLine["chat"];
  /** Null: none of the agents. */
  agentId?: string | null | undefined;
  /** For each document that was named its ids: several have the same title. Null: nothing answers. */
  documents?: { name: string; ids: string[] }[] | null | undefined;
  /** Texts of which the answer must contain one. Null: a person has to answer. */
  answers?: string[] | null | undefined;
}

/** Suggestions cost a look at every name, so that only so many faults get some. */
const MOST_SUGGESTED = 50;

/**
 * Finds the agents and documents that lines name: agents by name or id, documents by id, key, URL or title, in this
 * order. Answers what is unknown, with what may have been meant.
 */
export function resolveLines(
  lines: readonly EvalLine[],
  { agents, documents }: { agents: readonly Agent[]; documents: readonly NamedDocument[] },
): { lines: ResolvedLine[]; faults: LineFault[] } {
  const agentIds = new Map([
    ...agents.map(({ id }) => [id, id] as const),
    ...agents.map((agent) => [agent.name, agent.id] as const),
  ]);
  const documentIds = indexDocuments(documents);
  const faults: LineFault[] = [];

  const reportUnknown = (line: number, kind: "agent" | "document", name: string, names: () => Iterable<string>) => {
    const meant = faults.length < MOST_SUGGESTED ? suggestNames(name, names()) : [];
    const advice = meant.length === 0 ? "" : `; did you mean ${meant.map((one) => `"${one}"`).join(" or ")}?`;
    faults.push({ line, fault: `${kind}: no ${kind} is named "${name}"${advice}` });
  };
  const namesOfAgents = () => agents.map(({ name }) => name);
  const namesOfDocuments = () =>
    documents.flatMap(({ key, title, url }) => [key, title, ...(url === null ? [] : [url])]);

  const resolved = lines.map(({ line, id, text, chat, agent, document, answer }): ResolvedLine => {
    const agentId = typeof agent === "string" ? agentIds.get(agent) : agent;
    if (typeof agent === "string" && agentId === undefined) reportUnknown(line, "agent", agent, namesOfAgents);
    const found = document?.map((name) => ({ name, ids: documentIds(name) }));
    for (const { name, ids } of found ?? []) {
      if (ids.length === 0) reportUnknown(line, "document", name, namesOfDocuments);
    }
    return {
      line,
      id: id ?? String(line),
      text,
      chat,
      agentId,
      documents: document === null ? null : found,
      answers: answer,
    };
  });
  return { lines: resolved, faults };
}

/** Makes the function that finds a document by what it is called. */
function indexDocuments(documents: readonly NamedDocument[]): (name: string) => string[] {
  const indexes = [
    indexBy(documents, ({ id }) => id),
    indexBy(documents, ({ key }) => key),
    indexBy(documents, ({ url }) => url),
    indexBy(documents, ({ title }) => title),
  ];
  return (name) => indexes.map((index) => index.get(name)).find((ids) => ids !== undefined) ?? [];
}

function indexBy(
  documents: readonly NamedDocument[],
  nameOf: (document: NamedDocument) => string | null,
): Map<string, string[]> {
  const index = new Map<string, string[]>();
  for (const document of documents) {
    const name = nameOf(document);
    if (name === null) continue;
    const ids = index.get(name);
    if (ids === undefined) index.set(name, [document.id]);
    else ids.push(document.id);
  }
  return index;
}
