import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ensureConfiguredAdminKey, issueKey } from "@svc/auth";
import { addDocument, ensureKb } from "@svc/knowledge";
import type { Log } from "@svc/log";
import { DEFAULT_PROJECT } from "@svc/store";
import type { Project, Store } from "@svc/store";

/** What an initialisation found or made. */
export interface Initialized {
  project: Project;
  /** The first administrator's key, to be shown once; null when one exists already. */
  adminKey: string | null;
  isFirst: boolean;
}

const GUIDE_KB = "guide";
const FIRST_AGENT = "assistant";

/** Fills a knowledge base with the product's own guide and makes the agent that answers from it. */
async function makeFirstAgent(store: Store, log: Log, project: Project, guideDir: string): Promise<void> {
  const { kb } = await ensureKb({ store }, project.id, GUIDE_KB);
  const files = (await readdir(guideDir)).filter((file) => file.endsWith(".md")).sort();
  for (const file of files) {
    const text = await readFile(join(guideDir, file), "utf8");
    await addDocument({ store, log }, project.id, kb.id, { key: file, text, mime: "text/markdown" });
  }
  const agents = await store.agents.list(project.id);
  if (agents.some((agent) => agent.name === FIRST_AGENT)) return;
  await store.agents.insert(project.id, {
    name: FIRST_AGENT,
    description: "Answers questions about this service from its guide.",
    kbIds: [kb.id],
    reviewPolicy: "auto_if",
    autoThreshold: 0.5,
  });
}

/** What an initialisation is told. */
export interface InitializeOptions {
  /** The administrator's key that the configuration names. */
  configuredAdminKey: string | undefined;
  /** Folder of the product's guide, one Markdown file a page. */
  guideDir: string;
}

/**
 * Server initialisation (service document, "Enabling the HTTP API channel"): makes the project `default`, an
 * administrator's key, and on the first run an agent with the product's guide, and switches the HTTP API on. Safe to
 * repeat and to run in several processes at once: what exists stays, and what somebody deleted later is not made again.
 * Where the configuration names the administrator's key, that one is made and no other.
 */
export async function initialize(
  resources: { store: Store; log: Log },
  options: InitializeOptions,
): Promise<Initialized> {
  return resources.store.installation.exclusively(() => initializeAlone(resources, options));
}

async function initializeAlone(
  { store, log }: { store: Store; log: Log },
  options: InitializeOptions,
): Promise<Initialized> {
  const { project } = await store.projects.ensure(DEFAULT_PROJECT);
  const isFirst = !(await store.installation.isInitialized());
  if (isFirst) {
    await makeFirstAgent(store, log, project, options.guideDir);
    await store.channelsConfig.setEnabled("api", true);
  }
  let adminKey: string | null = null;
  if (options.configuredAdminKey !== undefined) {
    await ensureConfiguredAdminKey(store, options.configuredAdminKey);
  } else if (!(await store.apiKeys.hasLiveAdmin())) {
    const issued = await issueKey(store, {
      name: "first administrator",
      scopes: ["admin:*"],
      project: null,
      createdBy: "initialisation",
    });
    adminKey = issued.key;
  }
  await store.installation.markInitialized();
  return { project, adminKey, isFirst };
}
