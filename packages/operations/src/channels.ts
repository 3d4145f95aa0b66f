import { randomBytes } from "node:crypto";
import { isAdministrator, requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import {
  CHANNEL_CHANGES,
  CHANNEL_CONFIGS,
  CHANNEL_LIMITS,
  INTEGRATION_IDS,
  MASKED_SECRET,
  ServiceError,
  checkInput,
  integrationIdSchema,
  invalidInput,
  maskOf,
  webhookSecretsSchema,
  widgetSettingsSchema,
} from "@svc/contracts";
import type {
  ApiSettings,
  ChannelChange,
  ChannelId,
  ChannelItem,
  ChannelsConfig,
  IntegrationId,
  ListPage,
  WidgetSettings,
} from "@svc/contracts";
import { DEFAULT_PROJECT } from "@svc/store";
import type { ReplicaState, Store } from "@svc/store";
import { operation } from "./operation.ts";
import { nextWebhookSecret, storeWebhookSecret } from "./webhook-events.ts";

const KEY_BYTES = 24;

/**
 * Returns the change of the webhook secret that belongs to the principal's project rather than to the settings of the
 * channel; null for the project `default`, and if the secret does not change.
 */
function ownSecretOf(id: IntegrationId, { projectName }: Principal, config: object) {
  if (id !== "api" || projectName === DEFAULT_PROJECT) return null;
  const { webhookSecret: secret, overlapSeconds = CHANNEL_LIMITS.overlapDefaultSeconds } = given(
    CHANNEL_CHANGES.api.shape.config.unwrap().parse(config),
  );
  return secret === undefined ? null : { secret, overlapSeconds };
}

/** Settings shown for channels that have more settings than secrets. */
const SHOWN: Partial<Record<IntegrationId, (settings: ChannelsConfig, principal: Principal) => ChannelItem["config"]>> =
  {
    api({ api: { config } }) {
      const { bindHost, timeoutMs, webhookSecret, previousWebhookSecret, bufferDays } = config;
      const isOver = previousWebhookSecret === null || Date.parse(previousWebhookSecret.until) <= Date.now();
      return {
        bindHost,
        timeoutMs,
        webhookSecret: maskOf(webhookSecret),
        previousWebhookSecretUntil: isOver ? null : previousWebhookSecret.until,
        bufferDays,
      };
    },
    widget({ widget: { config } }, principal) {
      // The name of another project and the sites and texts of its widget must not be visible to this one.
      const tellsAll = config.project === principal.projectName || isAdministrator(principal);
      if (!tellsAll) return { ...widgetSettingsSchema.parse({}), project: null, identitySecret: null };
      return { ...config, identitySecret: maskOf(config.identitySecret) };
    },
  };

/** Returns the settings of a channel as shown to a principal. A channel that is not in `SHOWN` has only secrets. */
function showConfig(id: IntegrationId, settings: ChannelsConfig, principal: Principal): ChannelItem["config"] {
  const show = SHOWN[id];
  if (show !== undefined) return show(settings, principal);
  const secrets = id in settings ? Object.entries(settings[id as ChannelId].config) : [];
  return CHANNEL_CONFIGS[id].parse(Object.fromEntries(secrets.map(([name, secret]) => [name, maskOf(secret)])));
}

/** Returns the given fields of a change, without those that stand for a stored secret. */
function given<Change extends object>(change: Change): Partial<Change> {
  const fields = Object.entries(change).filter(([, value]) => value !== undefined && value !== MASKED_SECRET);
  return Object.fromEntries(fields) as Partial<Change>;
}

/** Removes the secrets that sign callbacks from a change of the HTTP API. */
const withoutSecrets = (change: object): object =>
  Object.fromEntries(
    Object.entries(change).filter(([name]) => name !== "webhookSecret" && name !== "previousWebhookSecret"),
  );

type ConfigOf<Id extends IntegrationId> = NonNullable<ReturnType<(typeof CHANNEL_CHANGES)[Id]["parse"]>["config"]>;

/** Returns the changed settings of the HTTP API. */
function changeApi(store: Store, present: ApiSettings, change: ConfigOf<"api">): object {
  const { webhookSecret, overlapSeconds, ...rest } = given(change);
  if (webhookSecret === undefined) {
    if (overlapSeconds === undefined) return rest;
    const detail = "requires a new webhookSecret in the same request";
    throw invalidInput([{ pointer: "/config/overlapSeconds", code: "not_allowed", detail }], "The channel");
  }
  const overlap = { overlapSeconds: overlapSeconds ?? CHANNEL_LIMITS.overlapDefaultSeconds };
  return { ...rest, ...nextWebhookSecret(store, present, { secret: webhookSecret, ...overlap }) };
}

/** Returns the changed settings of the widget. A key is created if it is enabled without one. */
async function changeWidget(
  store: Store,
  present: WidgetSettings,
  { config: change, enabled }: { config: ConfigOf<"widget">; enabled: boolean | undefined },
): Promise<object> {
  const { identitySecret, features, ...rest } = given(change);
  const { project } = rest;
  if (project !== undefined && (await store.projects.findByName(project)) === null) {
    const error = { pointer: "/config/project", code: "unknown", detail: `is not the name of a project: ${project}` };
    throw invalidInput([error], "The channel");
  }
  const sealed = identitySecret == null ? identitySecret : store.sealer.seal(identitySecret);
  const changed = {
    ...rest,
    ...(enabled === true && present.apiKey === null ? { apiKey: generateWidgetKey() } : {}),
    ...(rest.apiKey === undefined ? {} : { apiKey: rest.apiKey }),
    ...(features === undefined ? {} : { features: { ...present.features, ...given(features) } }),
    ...(sealed === undefined ? {} : { identitySecret: sealed }),
  };
  const next = { ...present, ...changed };
  if (next.requireIdentity && next.identitySecret === null) {
    const detail = "requires an identitySecret: without it, no hash can be verified";
    throw invalidInput([{ pointer: "/config/requireIdentity", code: "not_allowed", detail }], "The channel");
  }
  return changed;
}

/** Returns changed settings of a channel that has only secrets, sealed. */
const sealSecrets = (store: Store, change: object): object =>
  Object.fromEntries(
    Object.entries(given(change)).map(([name, secret]) => [
      name,
      typeof secret === "string" ? store.sealer.seal(secret) : null,
    ]),
  );

type ConfigChange = (
  store: Store,
  settings: ChannelsConfig,
  change: { config: object; enabled: boolean | undefined },
) => object | Promise<object>;

/** Changes of settings, for channels that have more settings than secrets. Secrets are sealed. */
const CHANGED: Partial<Record<IntegrationId, ConfigChange>> = {
  api: (store, { api }, { config }) => changeApi(store, api.config, config),
  widget: (store, { widget }, change) => changeWidget(store, widget.config, change),
};

/** States from worst to best: of a channel that should run, and of one that should not. */
const WORST_FIRST = {
  enabled: ["failing", "stopped", "running"],
  disabled: ["failing", "running", "stopped"],
} as const;

/** Returns the worst state of a channel in all processes. */
function stateOf(
  replicas: readonly ReplicaState[],
  isEnabled: boolean,
): Pick<ChannelItem, "state" | "since" | "error"> {
  const one = WORST_FIRST[isEnabled ? "enabled" : "disabled"]
    .map((state) => replicas.find((replica) => replica.state === state))
    .find((replica) => replica !== undefined);
  if (one === undefined) return { state: "stopped", since: null, error: null };
  return { state: one.state, since: one.since.toISOString(), error: one.error };
}

function asItem(
  id: IntegrationId,
  settings: ChannelsConfig,
  states: readonly ReplicaState[],
  principal: Principal,
): ChannelItem {
  const enabled = settings.enabled.includes(id);
  const replicas = states.filter((state) => state.id === id);
  return {
    id,
    kind: id === "tool-server" ? "integration" : "channel",
    enabled,
    ...stateOf(replicas, enabled),
    replicas: replicas.map(({ state, since, error }) => ({ state, since: since.toISOString(), error })),
    config: showConfig(id, settings, principal),
    version: settings.version,
  };
}

/** Returns the id of a channel. Throws not_found. */
function idOf(text: string): IntegrationId {
  const id = integrationIdSchema.safeParse(text);
  if (id.success) return id.data;
  throw new ServiceError("not_found", `No channel with this ID exists. Channels: ${INTEGRATION_IDS.join(", ")}.`);
}

/** Reads the settings for the principal's project, which has its own secrets for callbacks. */
async function readSettings(store: Store, { project, projectName }: Principal): Promise<ChannelsConfig> {
  const settings = await store.channelsConfig.read();
  if (projectName === DEFAULT_PROJECT) return settings;
  const secrets = (await store.projects.findWebhookSecrets(project)) ?? webhookSecretsSchema.parse({});
  return { ...settings, api: { ...settings.api, config: { ...settings.api.config, ...secrets } } };
}

async function readItem(store: Store, id: IntegrationId, principal: Principal): Promise<ChannelItem> {
  const [settings, states] = await Promise.all([readSettings(store, principal), store.channelStates.list()]);
  return asItem(id, settings, states, principal);
}

/**
 * Returns every channel of the service, and the tool server, also disabled ones, with settings, masked secrets and
 * state. The settings of another project's widget are shown only to administrators.
 */
export const listChannels = operation("listChannels", async ({ store }, principal): Promise<ListPage<ChannelItem>> => {
  const [settings, states] = await Promise.all([readSettings(store, principal), store.channelStates.list()]);
  return { items: INTEGRATION_IDS.map((id) => asItem(id, settings, states, principal)), nextCursor: null };
});

/** Returns one channel, like `listChannels`. */
export const getChannel = operation("getChannel", async ({ store }, principal, id) => {
  return readItem(store, idOf(id), principal);
});

/**
 * Changes the given settings of a channel, and enables or disables it, if the settings have one of the expected
 * versions; every replica applies the change within two seconds. The webhook secret is that of the principal's project.
 */
export const updateChannel = operation(
  "updateChannel",
  async ({ store }, principal, { id: channelId, versions = null }, input) => {
    const id = idOf(channelId);
    const { enabled, config = {} } = checkInput<ChannelChange>(CHANNEL_CHANGES[id], input, "The channel");
    for (;;) {
      const settings = await readSettings(store, principal);
      const { version } = settings;
      if (versions !== null && !versions.includes(version)) {
        throw new ServiceError(
          "version_conflict",
          `The settings have changed; the current version is ${version}. Fetch them again.`,
          {
            headers: { ETag: `"${version}"` },
          },
        );
      }
      const ownSecret = ownSecretOf(id, principal, config);
      const wanted = (await CHANGED[id]?.(store, settings, { config, enabled })) ?? sealSecrets(store, config);
      const changed = ownSecret === null ? wanted : withoutSecrets(wanted);
      // Of two concurrent changes, the later one must be based on the result of the earlier one.
      if (await store.channelsConfig.update(id, changed, { ifVersion: version, enabled })) {
        const project = { id: principal.project, name: principal.projectName };
        if (ownSecret !== null) await storeWebhookSecret(store, project, ownSecret);
        return readItem(store, id, principal);
      }
    }
  },
  { audit: "channels.update", isGlobal: true },
);

/**
 * Enables or disables a channel; every replica applies the change within two seconds. Returns whether anything changed.
 * Scope admin:*. Throws like `updateChannel`.
 */
export async function setChannelEnabled(
  { store }: { store: Store },
  principal: Principal,
  channelId: IntegrationId,
  enabled: boolean,
): Promise<boolean> {
  requireScope(principal, "admin:*");
  const before = await store.channelsConfig.read();
  const isChanged = before.enabled.includes(channelId) !== enabled;
  await updateChannel({ store }, principal, { id: channelId }, { enabled });
  return isChanged;
}

/** Creates a key for the widget. It is in every page with the widget, so it is not a secret. */
export function generateWidgetKey(): string {
  return `wk_${randomBytes(KEY_BYTES).toString("base64url")}`;
}
