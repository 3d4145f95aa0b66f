import { readdir } from "node:fs/promises";
import type { Principal } from "@svc/auth";
import { ServiceError } from "@svc/contracts";
import type { Agent, KbItem } from "@svc/contracts";
import { FIRST_AGENT, updateAgent } from "@svc/operations";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import { listAllDocuments, listAllKbs } from "../kb/find-kb.ts";
import { safeLine } from "../safe-text.ts";
import { shellWord } from "../shell-word.ts";
import { listAllAgents } from "./find-agent.ts";

const NAME_CHARS = 80;
/** Times that a decision is made anew because somebody else has changed the agent meanwhile. */
const MAX_TRIES = 3;

/** Whether a knowledge base holds the product's own guide, and nothing besides. */
async function isProductGuide(store: Store, principal: Principal, kb: KbItem): Promise<boolean> {
  if (kb.name !== FIRST_AGENT.kb) return false;
  // Loads the whole product, which is why it is loaded here.
  const { GUIDE_DIR } = await import("@svc/standalone");
  const pages = new Set(await readdir(GUIDE_DIR));
  const documents = await listAllDocuments(store, principal, kb.id);
  return documents.every(({ key }) => pages.has(key));
}

/** Gives the agent the knowledge base in place of the product's guide. False when somebody has changed it meanwhile. */
async function takeGuideAway(store: Store, principal: Principal, agent: Agent, kbId: string): Promise<boolean> {
  // What it said of itself holds no more, and triage would go by it.
  const description = agent.description === FIRST_AGENT.description ? "" : agent.description;
  try {
    await updateAgent({ store }, principal, agent.id, { kbIds: [kbId], description }, [agent.version]);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "version_conflict") return false;
    throw error;
  }
}

/**
 * Sees to it that somebody answers from a knowledge base that was filled. Where no agent has it, and the project's only
 * agent answers from nothing but the product's guide, that agent gets it and the guide is taken from it; else nothing is
 * changed. Answers a line for a person: what was changed, or how an agent gets it; null where one has it already.
 */
export async function giveKb(
  cli: Cli,
  store: Store,
  principal: Principal,
  kb: { id: string; name: string },
): Promise<string | null> {
  const { projectName } = principal;
  const kbName = safeLine(kb.name, NAME_CHARS);
  const inProject = projectName === "default" ? "" : ` --project ${projectName}`;
  const command = (words: string) => `${cli.self} agents ${words}${inProject}`;
  const unused = `No agent uses the knowledge base "${kbName}" yet.`;
  const giveTo = (name: string) =>
    `${unused} Assign it with: ${command(`update ${name} --add-kb ${shellWord(kbName)}`)}`;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const agents = (await listAllAgents(store, principal)).filter(({ enabled }) => enabled);
    if (agents.some(({ kbIds }) => kbIds.includes(kb.id))) return null;
    const [agent, ...others] = agents;
    if (agent === undefined) {
      return `${unused} Create an agent with: ${command(`create NAME --kb ${shellWord(kbName)}`)}`;
    }
    const name = others.length === 0 ? shellWord(safeLine(agent.name, NAME_CHARS)) : "NAME";
    const kbs = (await listAllKbs(store, principal)).filter(({ id }) => agent.kbIds.includes(id));
    const [guide, ...more] = kbs;
    const isAlone = others.length === 0 && guide !== undefined && more.length === 0 && agent.fixedReply === null;
    if (!isAlone || !(await isProductGuide(store, principal, guide))) return giveTo(name);
    if (!(await takeGuideAway(store, principal, agent, kb.id))) continue;
    return (
      `${safeLine(agent.name, NAME_CHARS)} now answers from "${kbName}" instead of the product's guide. To add the guide ` +
      `again: ${command(`update ${name} --add-kb ${FIRST_AGENT.kb}`)}`
    );
  }
  return giveTo("NAME");
}
