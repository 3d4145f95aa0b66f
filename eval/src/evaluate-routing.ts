// Routing of messages by the owner's texts: first only one-sentence descriptions of the agents, then also corrections
// of messages.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chooseAgent, openTriageModels } from "@svc/agents";
import { share } from "@svc/cli";
import { openScratchStore } from "./open-scratch-store.ts";
import { readJsonLines } from "./read-set.ts";
import type { Evaluation } from "./read-set.ts";

interface Company {
  company: string;
  agents: { name: string; description: string }[];
}

/** A message and its agent; null for none. */
interface Message {
  company: string;
  text: string;
  agent: string | null;
}

interface Prediction extends Message {
  isCorrected: boolean;
  isRight: boolean;
  confidence: number;
}

/**
 * Reads `agents.json` (companies with their agents), `messages.jsonl` and `corrections.jsonl` (`{company, text,
 * agent}`, where `agent` is null for none) of a folder. Returns predictions, and scores for each company and for all.
 */
export async function evaluateRouting(folder: string): Promise<Evaluation> {
  const companies = JSON.parse(readFileSync(join(folder, "agents.json"), "utf8")) as Company[];
  const messages = readJsonLines<Message>(join(folder, "messages.jsonl"));
  const corrections = readJsonLines<Message>(join(folder, "corrections.jsonl"));
  const { store, log, addProject, close } = await openScratchStore();
  const models = openTriageModels((error) => log.error(error));
  try {
    const predictions: Prediction[] = [];
    for (const { company, agents: described } of companies) {
      const isOfCompany = (row: Message) => row.company === company;
      for (const isCorrected of [false, true]) {
        const project = await addProject(`${company}${isCorrected ? "-corrected" : ""}`);
        for (const agent of described) await store.agents.insert(project.id, agent);
        const agents = await store.agents.list(project.id);
        const idOf = (name: string | null) => agents.find((agent) => agent.name === name)?.id ?? null;
        const learned = (isCorrected ? corrections.filter(isOfCompany) : []).map(({ text, agent }) => ({
          text,
          agentId: idOf(agent),
        }));
        for (const { text, agent } of messages.filter(isOfCompany)) {
          const search = () => Promise.resolve([]);
          const asked = { models, project: project.id, agents, learned, text, currentAgentId: null, search };
          const chosen = await chooseAgent(asked);
          const isRight = chosen.agentId === idOf(agent);
          predictions.push({ company, isCorrected, text, agent, isRight, confidence: chosen.confidence });
        }
      }
    }
    const names = [...companies.map(({ company }) => company), "all"];
    const rowsOf = (name: string) => predictions.filter(({ company }) => name === "all" || company === name);
    return { predictions, scores: Object.fromEntries(names.map((name) => [name, scoresOf(rowsOf(name))])) };
  } finally {
    models.close?.();
    await close();
  }
}

function scoresOf(rows: readonly Prediction[]) {
  const shareOf = (isCorrected: boolean, isForNobody: boolean) =>
    share(
      rows.filter((row) => row.isCorrected === isCorrected && (row.agent === null) === isForNobody),
      ({ isRight }) => isRight,
    );
  return {
    byDescription: { rightAgent: shareOf(false, false), nobodyRecognized: shareOf(false, true) },
    afterCorrections: { rightAgent: shareOf(true, false), nobodyRecognized: shareOf(true, true) },
  };
}
