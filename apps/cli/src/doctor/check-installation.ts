import { hashApiKey } from "@svc/auth";
import type { Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import type { Check } from "./check.ts";

async function checkAdminKey(store: Store, { self, startWith }: Cli): Promise<Check> {
  const name = "Admin key";
  if (await store.apiKeys.hasLiveAdminBeside([])) return { name, status: "ok", detail: "there is one" };
  return { name, status: "fail", detail: "there is none", advice: `Run: ${self} init (or ${startWith})` };
}

async function checkOwnKey(store: Store, key: string | null, { startWith }: Cli): Promise<Check> {
  const name = "This command's key";
  if (key === null) {
    const advice = `Set SVC_ADMIN_KEY to a key, or start the product on this data folder with: ${startWith}`;
    return { name, status: "warn", detail: "there is none; the command ask needs one", advice };
  }
  if ((await store.apiKeys.findLiveByHash(hashApiKey(key))) !== null) return { name, status: "ok", detail: "is valid" };
  const advice = `It becomes valid when the product starts with it: ${startWith}`;
  return { name, status: "warn", detail: "is unknown to this database, or revoked", advice };
}

async function checkChannels(store: Store, { self }: Cli): Promise<Check[]> {
  const { enabled, api } = await store.channelsConfig.read();
  const channel: Check = enabled.includes("api")
    ? { name: "Channels", status: "ok", detail: `enabled: ${enabled.join(", ")}` }
    : {
        name: "Channels",
        status: "warn",
        detail: "the HTTP API is disabled: it takes no messages",
        advice: `Enable it: ${self} channels enable api`,
      };
  const secret: Check =
    api.config.webhookSecret === null
      ? {
          name: "Webhook secret",
          status: "ok",
          detail: "none is set: callbacks are signed with the API key that sent the message",
          advice: `Hint: set one, so that receivers need to know no key: ${self} webhook secret --generate`,
        }
      : { name: "Webhook secret", status: "ok", detail: "set" };
  return [channel, secret];
}

/** Checks what the initialisation makes: keys and channels. `key` is the one that this command line uses. */
export async function checkInstallation(cli: Cli, store: Store, key: string | null): Promise<Check[]> {
  return [await checkAdminKey(store, cli), await checkOwnKey(store, key, cli), ...(await checkChannels(store, cli))];
}
