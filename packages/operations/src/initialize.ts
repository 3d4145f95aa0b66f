import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ensureConfiguredAdminKey, issueKey } from "@svc/auth";
import { addDocument, ensureKb } from "@svc/knowledge";
import type { Log } from "@svc/log";
import { DEFAULT_PROJECT } from "@svc/store";
import type { Project, Store } from "@svc/store";
import { MADE_BY_COMMAND_LINE } from "./keys.ts";
import { generateWidgetKey } from "./channels.ts";

/** Result of an initialization. */
export interface InitializeResult {
  project: Project;
  /**
   * The first administrator's key; null if one exists. Until it is marked as shown, the next initialization replaces
   * it.
   */
  adminKey: string | null;
  isFirst: boolean;
}

/** Objects for a first try of the product: a knowledge base and an agent with it. */
export const FIRST_AGENT = {
  name: "assistant",
  description: "Answers questions about this service from its guide.",
  kb: "guide",
  // Lower than the default: its answers from the short guide are right more often (ADR 0067).
  autoThreshold: 0.5,
} as const;

/** Knowledge base of the demo page's fictional shop, which the first agent also uses. */
export const DEMO_KB = { name: "demo shop", keyPrefix: "demo/" } as const;

const MADE_BY_INITIALISATION = "initialisation";

/** Audit log fields of the changes that an initialization makes. */
const BY_INITIALISATION = { actor: MADE_BY_INITIALISATION, project: null, result: "ok", requestId: null } as const;

/** Fills a knowledge base with the Markdown files of a folder, and returns its ID. */
async function fillKb(
  { store, log }: { store: Store; log: Log },
  project: Project,
  { name, folder, keyPrefix = "" }: { name: string; folder: string; keyPrefix?: string },
): Promise<string> {
  const { kb } = await ensureKb({ store }, project.id, name);
  const files = (await readdir(folder)).filter((file) => file.endsWith(".md")).sort();
  for (const file of files) {
    const text = await readFile(join(folder, file), "utf8");
    await addDocument({ store, log }, project.id, kb.id, { key: `${keyPrefix}${file}`, text, mime: "text/markdown" });
  }
  return kb.id;
}

/** Creates the agent that answers from the product's own guide, and from the documents of the demo shop if given. */
async function makeFirstAgent(
  resources: { store: Store; log: Log },
  project: Project,
  { guideDir, demoDir }: Pick<InitializeOptions, "guideDir" | "demoDir">,
): Promise<void> {
  const kbIds = [await fillKb(resources, project, { name: FIRST_AGENT.kb, folder: guideDir })];
  if (demoDir !== undefined) kbIds.push(await fillKb(resources, project, { ...DEMO_KB, folder: demoDir }));
  const { agents } = resources.store;
  const { name, description, autoThreshold } = FIRST_AGENT;
  if ((await agents.list(project.id)).some((agent) => agent.name === name)) return;
  await agents.insert(project.id, { name, description, kbIds, reviewPolicy: "auto_if", autoThreshold });
}

/** Creates the administrator's key if there is none, and returns it; null if one exists. */
async function ensureAdminKey(store: Store, configured: string | undefined): Promise<string | null> {
  if (configured !== undefined) {
    await ensureConfiguredAdminKey(store, configured);
    return null;
  }
  if (await store.apiKeys.hasLiveAdminBeside([MADE_BY_INITIALISATION, MADE_BY_COMMAND_LINE])) return null;
  const made = await store.apiKeys.listLiveCreatedBy(MADE_BY_INITIALISATION);
  if (made.length > 0 && (await store.installation.isAdminKeyShown())) return null;
  // A startup that failed after creating the key has not shown it: another one replaces it.
  for (const { id } of made) {
    await store.apiKeys.revoke(id);
    await store.audit.append({ ...BY_INITIALISATION, action: "keys.revoke", object: id });
  }
  const { key, record } = await issueKey(store, {
    name: "first administrator",
    scopes: ["admin:*"],
    project: null,
    createdBy: MADE_BY_INITIALISATION,
  });
  await store.audit.append({ ...BY_INITIALISATION, action: "keys.create", object: record.id });
  return key;
}

/** Input of an initialization. */
interface InitializeOptions {
  /** The administrator's key in the configuration. */
  configuredAdminKey: string | undefined;
  /** Folder of the product's guide, with one Markdown file per page. */
  guideDir: string;
  /** True if the caller shows the key immediately; otherwise it calls `store.installation.markAdminKeyShown` later. */
  showsKey: boolean;
  /** True: the first initialization also creates a key for the widget and enables it. */
  enablesWidget?: boolean;
  /** Folder of the demo shop's documents, which the first agent also uses. */
  demoDir?: string | undefined;
}

/**
 * Initializes the server (service document, "Enabling the HTTP API channel"): creates the project `default`, an
 * administrator's key, and on the first run an agent with the product's guide, and enables the HTTP API. Idempotent and
 * safe to run concurrently in several processes: existing objects are unchanged, and deleted ones are not created
 * again. If the configuration has the administrator's key, only that one is created.
 */
export async function initialize(
  resources: { store: Store; log: Log },
  options: InitializeOptions,
): Promise<InitializeResult> {
  return resources.store.installation.exclusively(() => initializeAlone(resources, options));
}

async function initializeAlone(
  { store, log }: { store: Store; log: Log },
  options: InitializeOptions,
): Promise<InitializeResult> {
  const { project } = await store.projects.ensure(DEFAULT_PROJECT);
  const isFirst = !(await store.installation.isInitialized());
  if (isFirst) {
    await makeFirstAgent({ store, log }, project, options);
    await store.channelsConfig.setEnabled("api", true);
    if (options.enablesWidget === true) {
      const { widget } = await store.channelsConfig.read();
      await store.channelsConfig.update(
        "widget",
        { apiKey: widget.config.apiKey ?? generateWidgetKey() },
        { enabled: true },
      );
    }
    const { id, name } = project;
    await store.audit.append({ ...BY_INITIALISATION, project: { id, name }, action: "service.initialize", object: id });
  }
  const adminKey = await ensureAdminKey(store, options.configuredAdminKey);
  if (adminKey !== null && options.showsKey) await store.installation.markAdminKeyShown();
  await store.installation.markInitialized();
  return { project, adminKey, isFirst };
}
