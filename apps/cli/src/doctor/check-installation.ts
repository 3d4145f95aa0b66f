import { hashApiKey } from "@svc/auth";
import type { Project, Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import type { Check } from "./check.ts";

/** Number of projects that a check names at most. */
const SHOWN_PROJECTS = 5;

function listNames(names: readonly string[]): string {
  return [...names.slice(0, SHOWN_PROJECTS), ...(names.length > SHOWN_PROJECTS ? ["…"] : [])].join(", ");
}

async function checkAdminKey(store: Store, { self, startWith }: Cli): Promise<Check> {
  const name = "Admin key";
  if (await store.apiKeys.hasLiveAdminBeside([])) return { name, status: "ok", detail: "exists" };
  return { name, status: "fail", detail: "is missing", advice: `Run: ${self} init (or ${startWith})` };
}

async function checkOwnKey(store: Store, key: string | null, { startWith }: Cli): Promise<Check> {
  const name = "CLI key";
  if (key === null) {
    const advice = `Set SVC_ADMIN_KEY to a key, or start the service on this data folder with: ${startWith}`;
    return { name, status: "warn", detail: "is missing, but svc ask needs one", advice };
  }
  if ((await store.apiKeys.findLiveByHash(hashApiKey(key))) !== null) return { name, status: "ok", detail: "is valid" };
  const advice = `It becomes valid when the service starts with it: ${startWith}`;
  return { name, status: "warn", detail: "is unknown to this database, or revoked", advice };
}

/** Names of projects that have the same webhook secret as another one, those of each secret together. */
function findSharedSecrets(store: Pick<Store, "sealer">, projects: readonly Project[]): string[][] {
  const names = new Map<string, string[]>();
  for (const { name, webhookSecret } of projects) {
    const secret = webhookSecret === null ? null : store.sealer.open(webhookSecret);
    if (secret !== null) names.set(secret, [...(names.get(secret) ?? []), name]);
  }
  return [...names.values()].filter((group) => group.length > 1);
}

/** Whether the callbacks of each project are signed with a secret of its own. */
async function checkWebhookSecrets(store: Store, { self }: Cli): Promise<Check> {
  const name = "Webhook secret";
  const projects = await store.projects.list();
  const [shared] = findSharedSecrets(store, projects);
  if (shared !== undefined) {
    const detail = `${listNames(shared)} have the same secret: a receiver of one project could sign callbacks of another`;
    const advice = `Set a separate secret for each: ${self} webhook secret --project ${shared.at(-1)} --generate`;
    return { name, status: "warn", detail, advice };
  }
  const unset = projects.filter(({ webhookSecret }) => webhookSecret === null).map((project) => project.name);
  const [first] = unset;
  if (first === undefined) return { name, status: "ok", detail: "set" };
  const where = projects.length === 1 ? "not set" : `not set for ${listNames(unset)}`;
  return {
    name,
    status: "ok",
    detail: `${where}: callbacks are signed with the API key that sent the message`,
    advice: `Hint: set one, so that receivers do not need an API key: ${self} webhook secret --project ${first} --generate`,
  };
}

async function checkChannels(store: Store, cli: Cli): Promise<Check[]> {
  const { enabled } = await store.channelsConfig.read();
  const channel: Check = enabled.includes("api")
    ? { name: "Channels", status: "ok", detail: `enabled: ${enabled.join(", ")}` }
    : {
        name: "Channels",
        status: "warn",
        detail: "the HTTP API is disabled and accepts no messages",
        advice: `Enable it: ${cli.self} channels enable api`,
      };
  return [channel, await checkWebhookSecrets(store, cli)];
}

/** Checks what the initialisation makes: keys and channels. `key` is the one that this command line uses. */
export async function checkInstallation(cli: Cli, store: Store, key: string | null): Promise<Check[]> {
  return [await checkAdminKey(store, cli), await checkOwnKey(store, key, cli), ...(await checkChannels(store, cli))];
}
