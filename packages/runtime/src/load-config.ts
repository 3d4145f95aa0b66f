import { readFileSync } from "node:fs";
import { modelProviderOf } from "@svc/agents";
import type { ModelProviderConfig, ModelsConfig } from "@svc/agents";
import { localUrl } from "@svc/contracts";
import type { OperatorRole } from "@svc/contracts";
import type { Sender, SmtpServer } from "@svc/outbound";
import { errorCode } from "@svc/primitives";
import type { StorageLimits } from "@svc/store";
import type { TracingConfig } from "@svc/telemetry";
import type { z } from "zod";
import { SETTINGS } from "./settings-schema.ts";
import type { SettingName } from "./settings-schema.ts";

const MB = 1024 * 1024;

type Environment = Readonly<Record<string, string | undefined>>;
type Values = { [Name in SettingName]: z.output<(typeof SETTINGS)[Name]["schema"]> };

/**
 * Source of embeddings: an OpenAI-compatible server and its model, or a folder with a model, which is not checked yet.
 */
type EmbeddingsConfig = { baseUrl: string; model: string; apiKey?: string } | { dir: string };

/** An OpenID Connect provider by which operators sign in. */
export interface OidcConfig {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Display name of the provider. */
  name: string;
  /** Role of people who sign in and are not operators yet; undefined if only operators may sign in. */
  createRole: { project: string; role: OperatorRole } | undefined;
}

/** Where the spans of this process are sent. */
interface TracingSettings extends Pick<TracingConfig, "endpoint" | "protocol" | "headers" | "sampleRatio"> {
  /** Name of the service in traces; `svc-` and the name of the app if undefined. */
  serviceName: string | undefined;
}

/** The environment with defaults; the store and the secret key may still be missing. */
export interface EarlyConfig {
  databaseUrl: string | undefined;
  /** URL of the same database without a pooler; undefined if it is `databaseUrl`. */
  directUrl: string | undefined;
  redisUrl: string | undefined;
  adminKey: string | undefined;
  secretKey: string | undefined;
  /** File that contains the secret key; undefined if the variable itself does. */
  secretKeyFile: string | undefined;
  dataDir: string;
  storageLimits: StorageLimits;
  /** S3-compatible store for files; PostgreSQL stores them if undefined. */
  filesUrl: string | undefined;
  bindHost: string | undefined;
  ports: { api: number; widget: number; tools: number; console: number; metrics: number | undefined };
  trustProxy: string[];
  publicUrls: string[];
  /** Mail server and sender of emails; undefined if none are sent. */
  email: { server: SmtpServer; from: Sender } | undefined;
  /** Public URL of the console for links in emails, without a trailing slash. */
  consoleUrl: string;
  /** Public URL of the widget's port for links in emails, without a trailing slash. */
  widgetUrl: string;
  /** Web sites whose pages may call the HTTP API. */
  corsOrigins: string[];
  /** Maximum numbers of open calls in this process. */
  ceilings: {
    /** Long polls and event streams per key and address; calls that follow model pulls have a limit of their own. */
    openCalls: number;
    /** Calls that wait for the reply to their message, per key and address. */
    heldCalls: number;
    socketsPerAddress: number;
    sockets: number;
  };
  /** Hosts and networks that callbacks may go to although they are not public. */
  webhookAllow: string[];
  /** Hosts and networks that knowledge bases may be read from although they are not public. */
  fetchAllow: string[];
  /** Source of embeddings; undefined if searches use words only. */
  embeddings: EmbeddingsConfig | undefined;
  /** Servers with language models; undefined if agents only quote. */
  models: ModelsConfig | undefined;
  /** Timeout and prices of calls to language models, wherever their servers are configured. */
  modelCalls: Pick<ModelsConfig, "timeoutMs" | "prices">;
  /** True if the environment sets the first server, so that a stored one is ignored. */
  isModelServerFixed: boolean;
  /** URL of Telegram's Bot API, or of a self-hosted Bot API server. */
  telegramApiRoot: string;
  /** Where spans are sent; undefined if tracing is off. */
  tracing: TracingSettings | undefined;
  /** Single sign-on of operators; undefined if they sign in with a password only. */
  oidc: OidcConfig | undefined;
  logLevel: Values["SVC_LOG_LEVEL"];
  queuePrefix: string;
  isProduction: boolean;
}

/** The configuration of a process, read once at startup. */
export interface Config extends EarlyConfig {
  databaseUrl: string;
  /** URL of the same database without a pooler: for `LISTEN`, session locks, migrations and backups. */
  directUrl: string;
  secretKey: string;
}

/** Invalid configuration: names every invalid setting, and never shows a value. */
export class ConfigError extends Error {
  readonly problems: string[];

  constructor(errors: string[]) {
    super(
      `The configuration is not valid:\n${errors.map((error) => `  - ${error}`).join("\n")}\nSee docs/configuration.md.`,
    );
    this.name = "ConfigError";
    this.problems = errors;
  }
}

const NAMES = Object.keys(SETTINGS) as SettingName[];

/** Returns the text of a setting: from its variable, or from the file that `NAME_FILE` names. */
function readText(env: Environment, name: SettingName, errors: string[]): string | undefined {
  const direct = env[name] === "" ? undefined : env[name];
  const file = env[`${name}_FILE`];
  if (file === undefined || file === "") return direct;
  if (direct !== undefined) {
    errors.push(`${name} and ${name}_FILE are both set; remove one of them`);
    return undefined;
  }
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    const code = errorCode(error);
    errors.push(`${name}_FILE is the path of a file that cannot be read (${code ?? "unknown error"})`);
    return undefined;
  }
}

/** Settings that another one requires, with advice. */
const REQUIRED: readonly (readonly [SettingName, SettingName, string])[] = [
  ["SVC_EMBEDDINGS_MODEL", "SVC_EMBEDDINGS_BASE_URL", "; set it to a model of this server"],
  ["SVC_EMAIL_FROM", "SVC_SMTP_URL", ""],
  ["DATABASE_URL", "DATABASE_DIRECT_URL", "; both name the same database"],
  ["SVC_OIDC_CLIENT_ID", "SVC_OIDC_ISSUER", ""],
  ["SVC_OIDC_CLIENT_SECRET", "SVC_OIDC_ISSUER", ""],
];

/** Parses the values of all settings. Throws ConfigError with all errors at once. */
function readValues(env: Environment): Values {
  const errors: string[] = [];
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const name of NAMES) {
    const text = readText(env, name, errors);
    const parsed = SETTINGS[name].schema.safeParse(text);
    if (parsed.success) values[name] = parsed.data;
    else {
      const file = env[`${name}_FILE`] ? ` (read from ${env[`${name}_FILE`]})` : "";
      errors.push(`${name} must be ${parsed.error.issues.map((issue) => issue.message).join(", ")}${file}`);
    }
  }
  for (const [name, other, advice] of REQUIRED) {
    const isSet = values[name] !== undefined || errors.some((error) => error.startsWith(name));
    if (values[other] !== undefined && !isSet) errors.push(`${name} is required with ${other}${advice}`);
  }
  if (values.SVC_EMBEDDINGS_BASE_URL !== undefined && values.SVC_EMBEDDINGS_DIR !== undefined) {
    errors.push("SVC_EMBEDDINGS_DIR and SVC_EMBEDDINGS_BASE_URL are both set; remove one of them");
  }
  if (errors.length > 0) throw new ConfigError(errors);
  // Each value was parsed by its own schema above.
  return values as Values;
}

/** Reads the environment. Throws ConfigError with all errors at once. */
export function readEnvironment(env: Environment): EarlyConfig {
  const parsed = readValues(env);
  return {
    databaseUrl: parsed.DATABASE_URL,
    directUrl: parsed.DATABASE_DIRECT_URL,
    redisUrl: parsed.REDIS_URL,
    adminKey: parsed.SVC_ADMIN_KEY,
    secretKey: parsed.SVC_SECRET_KEY,
    secretKeyFile: env["SVC_SECRET_KEY_FILE"] || undefined,
    dataDir: parsed.SVC_DATA_DIR,
    storageLimits: {
      installationMaxBytes: parsed.SVC_STORAGE_INSTALLATION_MAX_MB * MB,
      projectMaxBytes: parsed.SVC_STORAGE_PROJECT_MAX_MB * MB,
      conversationMaxBytes: parsed.SVC_STORAGE_CONVERSATION_MAX_MB * MB,
      visitorDayMaxBytes: parsed.SVC_STORAGE_VISITOR_DAY_MAX_MB * MB,
    },
    filesUrl: parsed.SVC_FILES_URL,
    bindHost: parsed.SVC_BIND_HOST,
    ports: {
      api: parsed.SVC_API_PORT,
      widget: parsed.SVC_WIDGET_PORT,
      tools: parsed.SVC_TOOLS_PORT,
      console: parsed.SVC_CONSOLE_PORT,
      metrics: parsed.SVC_METRICS_PORT,
    },
    trustProxy: parsed.SVC_TRUST_PROXY ?? [],
    publicUrls: parsed.SVC_PUBLIC_URLS ?? [],
    email: emailOf(parsed),
    consoleUrl: parsed.SVC_CONSOLE_URL ?? localUrl(parsed.SVC_BIND_HOST ?? "127.0.0.1", parsed.SVC_CONSOLE_PORT),
    widgetUrl: parsed.SVC_WIDGET_URL ?? localUrl(parsed.SVC_BIND_HOST ?? "127.0.0.1", parsed.SVC_WIDGET_PORT),
    corsOrigins: parsed.SVC_CORS_ORIGINS ?? [],
    ceilings: {
      openCalls: parsed.SVC_MAX_OPEN_CALLS,
      heldCalls: parsed.SVC_MAX_HELD_CALLS,
      socketsPerAddress: parsed.SVC_MAX_SOCKETS_PER_ADDRESS,
      sockets: parsed.SVC_MAX_SOCKETS,
    },
    webhookAllow: parsed.SVC_WEBHOOK_ALLOW ?? [],
    fetchAllow: parsed.SVC_FETCH_ALLOW ?? [],
    embeddings: embeddingsOf(parsed),
    models: modelsOf(parsed),
    modelCalls: modelCallsOf(parsed),
    isModelServerFixed: parsed.SVC_LLM_BASE_URL !== undefined,
    telegramApiRoot: parsed.SVC_TELEGRAM_API_ROOT,
    tracing: tracingOf(parsed),
    oidc: oidcOf(parsed),
    logLevel: parsed.SVC_LOG_LEVEL,
    queuePrefix: parsed.SVC_QUEUE_PREFIX,
    isProduction: parsed.NODE_ENV === "production",
  };
}

function emailOf({ SVC_SMTP_URL: server, SVC_EMAIL_FROM: from }: Values): EarlyConfig["email"] {
  return server === undefined || from === undefined ? undefined : { server, from };
}

function embeddingsOf(values: Values): EarlyConfig["embeddings"] {
  const { SVC_EMBEDDINGS_BASE_URL: baseUrl, SVC_EMBEDDINGS_MODEL: model, SVC_EMBEDDINGS_API_KEY: apiKey } = values;
  if (values.SVC_EMBEDDINGS_DIR !== undefined) return { dir: values.SVC_EMBEDDINGS_DIR };
  if (baseUrl === undefined || model === undefined) return undefined;
  return { baseUrl, model, ...(apiKey === undefined ? {} : { apiKey }) };
}

function tracingOf(values: Values): EarlyConfig["tracing"] {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = values;
  if (endpoint === undefined) return undefined;
  return {
    endpoint,
    protocol: values.OTEL_EXPORTER_OTLP_PROTOCOL,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: values.OTEL_SERVICE_NAME,
    sampleRatio: values.OTEL_TRACES_SAMPLER_ARG,
  };
}

function oidcOf(values: Values): EarlyConfig["oidc"] {
  const { SVC_OIDC_ISSUER: issuer, SVC_OIDC_CLIENT_ID: clientId, SVC_OIDC_CLIENT_SECRET: clientSecret } = values;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return { issuer, clientId, clientSecret, name: values.SVC_OIDC_NAME, createRole: values.SVC_OIDC_CREATE_ROLE };
}

const ollamaApi = (ollamaUrl: string) => `${ollamaUrl.replace(/\/+$/, "")}/v1`;

const modelCallsOf = ({ SVC_LLM_TIMEOUT_MS: timeoutMs, SVC_LLM_PRICES: prices = {} }: Values) => ({
  timeoutMs,
  prices,
});

/** Returns the servers with language models, those of `SVC_LLM_BASE_URL` first. */
function modelsOf(values: Values): ModelsConfig | undefined {
  const { SVC_LLM_BASE_URL: baseUrl, SVC_ANTHROPIC_API_KEY: anthropicKey, SVC_OLLAMA_BASE_URL: ollamaUrl } = values;
  const providers: ModelProviderConfig[] = [];
  const add = ({ apiKey, ...provider }: Omit<ModelProviderConfig, "apiKey"> & { apiKey: string | undefined }) =>
    providers.push({ ...provider, ...(apiKey === undefined ? {} : { apiKey }) });
  if (baseUrl !== undefined) {
    const provider = modelProviderOf({ baseUrl, api: values.SVC_LLM_API, apiKey: values.SVC_LLM_API_KEY });
    // An address that is the configured Ollama is one, whatever its port.
    const isOllama =
      provider.api === "openai" && ollamaUrl !== undefined && baseUrl.replace(/\/+$/, "") === ollamaApi(ollamaUrl);
    const name = isOllama ? "ollama" : provider.api;
    providers.push(ollamaUrl === undefined ? provider : { ...provider, name });
  }
  if (anthropicKey !== undefined && !providers.some(({ api }) => api === "anthropic")) {
    add({ name: "anthropic", api: "anthropic", baseUrl: values.SVC_ANTHROPIC_BASE_URL, apiKey: anthropicKey });
  }
  if (ollamaUrl !== undefined && !providers.some(({ name }) => name === "ollama")) {
    add({ name: "ollama", api: "openai", baseUrl: ollamaApi(ollamaUrl), apiKey: undefined });
  }
  if (providers.length === 0) return undefined;
  return {
    providers,
    defaultModel: values.SVC_LLM_MODEL ?? null,
    ...modelCallsOf(values),
  };
}

/** Returns the configuration of an app. Throws ConfigError if a setting is invalid or missing. */
export function loadConfig(env: Environment): Config {
  const early = readEnvironment(env);
  const { databaseUrl, directUrl = databaseUrl, secretKey } = early;
  if (databaseUrl !== undefined && directUrl !== undefined && secretKey !== undefined) {
    return { ...early, databaseUrl, directUrl, secretKey };
  }
  throw new ConfigError([
    ...(databaseUrl === undefined
      ? ["DATABASE_URL is required to run a single app; `npm start` runs everything on an embedded PostgreSQL"]
      : []),
    ...(secretKey === undefined
      ? ["SVC_SECRET_KEY is required with DATABASE_URL; generate one with: openssl rand -base64 48"]
      : []),
  ]);
}
