import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ensureConfiguredAdminKey, issueKey } from "@svc/auth";
import { addDocument, ensureKb } from "@svc/knowledge";
import type { Log } from "@svc/log";
import { DEFAULT_PROJECT } from "@svc/store";
import type { Project, Store } from "@svc/store";
import { MADE_BY_COMMAND_LINE } from "./local-key.ts";
import { generateWidgetKey } from "./channels.ts";

/** What an initialisation found or made. */
export interface Initialized {
  project: Project;
  /**
   * The first administrator's key; null when one exists already. Until it is noted as shown, the next initialisation
   * makes another one in its place.
   */
  adminKey: string | null;
  isFirst: boolean;
}

/** What the first initialisation makes for people to try the product with: a knowledge base and who answers from it. */
export const FIRST_AGENT = {
  name: "assistant",
  description: "Answers questions about this service from its guide.",
  kb: "guide",
  // Lower than the default: its answers from the short guide are right more often (ADR 0067).
  autoThreshold: 0.5,
} as const;

/** Knowledge base of the demo page's fictional shop, from which the first agent answers too. */
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

/** Makes the agent that answers from the product's own guide, and from the documents of the demo page's shop if given. */
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

/** Makes the administrator's key where there is none, and returns it; null when one exists. */
async function ensureAdminKey(store: Store, configured: string | undefined): Promise<string | null> {
  if (configured !== undefined) {
    await ensureConfiguredAdminKey(store, configured);
    return null;
  }
  if (await store.apiKeys.hasLiveAdminBeside([MADE_BY_INITIALISATION, MADE_BY_COMMAND_LINE])) return null;
  const made = await store.apiKeys.listLiveCreatedBy(MADE_BY_INITIALISATION);
  if (made.length > 0 && (await store.installation.isAdminKeyShown())) return null;
  // A start that failed after the key was made has shown it to nobody: another one takes its place.
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
export interface InitializeOptions {
  /** The administrator's key that the configuration names. */
  configuredAdminKey: string | undefined;
  /** Folder of the product's guide, one Markdown file a page. */
  guideDir: string;
  /** True when the caller shows the key right away; else it calls `store.installation.markAdminKeyShown` later. */
  showsKey: boolean;
  /** True: the first initialisation also gives the widget a key and switches it on. */
  enablesWidget?: boolean;
  /** Folder of the documents of the demo page's shop, from which the first agent answers too. */
  demoDir?: string | undefined;
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
