// oxlint-disable max-lines -- One list of all settings.
import { isIP } from "node:net";
import { operatorRoleSchema } from "@svc/contracts";
import { LOG_LEVELS } from "@svc/log";
import { toError } from "@svc/primitives";
import { parseSender, parseSmtpUrl } from "@svc/outbound";
import { parseRedisUrl } from "@svc/queue";
import { parseFilesUrl } from "@svc/store";
import { z } from "zod";

const port = z
  .string()
  .regex(/^\d{1,5}$/, { error: "a port number" })
  .transform(Number)
  .refine((value) => value <= 65_535, { error: "a port number up to 65535" });

const count = z
  .string()
  .regex(/^[1-9]\d{0,6}$/, { error: "an integer from 1 to 9999999" })
  .transform(Number);

const megabytes = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, { error: "a number of MB from 1 to 999999999" })
  .transform(Number);

const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);

const proxies = list.refine((parts) => parts.every(isAddressOrNetwork), {
  error: "IP addresses or networks such as 10.0.0.0/8, separated by commas",
});

const publicUrls = list.refine((parts) => parts.every((part) => /^https?:\/\//.test(part) && URL.canParse(part)), {
  error: "URLs that start with http:// or https://, separated by commas",
});

const publicUrl = z
  .string()
  .refine((text) => /^https?:\/\//.test(text) && URL.canParse(text) && !hasCredentials(text), {
    error: "a URL that starts with http:// or https://, without a user name or password",
  })
  .transform((text) => text.replace(/\/+$/, ""));

const smtpUrl = z.string().transform((text, context) => {
  const server = parseSmtpUrl(text);
  if (server !== null) return server;
  const message = "a URL such as smtp://user:password@host:587 or smtps://user:password@host:465";
  context.issues.push({ code: "custom", message, input: text });
  return z.NEVER;
});

const sender = z.string().transform((text, context) => {
  const parsed = parseSender(text);
  if (parsed !== null) return parsed;
  context.issues.push({
    code: "custom",
    message: "a sender such as Example support <support@example.com>",
    input: text,
  });
  return z.NEVER;
});

const hosts = list.refine((parts) => parts.every(isHostOrNetwork), {
  error: "host names, IP addresses or networks such as 10.0.0.0/8, separated by commas and without ports",
});

const origins = list.refine((parts) => parts.every(isOrigin), {
  error: "origins such as https://app.example.com without a path, separated by commas, or * for all sites",
});

/** Origin of an app with a scheme of its own, such as `app://obsidian.md`. */
const APP_ORIGIN = /^(?!https?:|file:)[a-z][a-z0-9+.-]*:\/\/[\w.-]+$/;

/** Returns true for the origin of a web site or an app as browsers send it, and for `*`. */
function isOrigin(text: string): boolean {
  if (text === "*" || APP_ORIGIN.test(text)) return true;
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Returns true for an address, a network, or a host name without port, path or wildcard. */
function isHostOrNetwork(text: string): boolean {
  return isAddressOrNetwork(text) || (/^[^\s/:@*[\]]+$/.test(text) && !/^[\d.]+$/.test(text));
}

/** Returns true for an IP address, or a network whose prefix length is not 0, which would be every address. */
function isAddressOrNetwork(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}

const urlOf = (...protocols: string[]) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    error: `a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
  });

const redisUrl = z.string().superRefine((text, context) => {
  try {
    parseRedisUrl(text);
  } catch (error) {
    context.addIssue({ code: "custom", message: toError(error).message });
  }
});

const apiBase = urlOf("http:", "https:").refine((text) => !hasCredentials(text), {
  error: "a URL without a user name or password",
});

const modelName = z.string().regex(/^[^\s\p{C}]{1,200}$/u, { error: "the name of a model, without spaces" });

const apiKey = z.string().regex(/^[\x21-\x7e]{1,1000}$/, { error: "printable ASCII without spaces" });

const priceError = 'JSON such as {"gpt-4o-mini":{"input":0.15,"output":0.6}}';
const priceList = z.record(z.string(), z.strictObject({ input: z.number().min(0), output: z.number().min(0) }));

const prices = z.string().transform((text, context) => {
  try {
    const parsed = priceList.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data;
  } catch {
    // Reported below, like any other invalid value.
  }
  context.issues.push({ code: "custom", message: priceError, input: text });
  return z.NEVER;
});

const issuer = z
  .string()
  .refine((text) => URL.canParse(text) && !hasCredentials(text) && (isHttps(text) || isOnThisMachine(text)), {
    error: "a URL that starts with https:// (or http:// on this machine), without a user name or password",
  });

/** Parses the headers in an environment variable (OpenTelemetry, "OTLP exporter configuration"). */
const otlpHeaders = z.string().transform((text, context) => {
  const headers: Record<string, string> = {};
  for (const pair of text.split(",").filter((part) => part.trim() !== "")) {
    const [, name, value] =
      /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*((?:[\x21-\x24\x26-\x7e]|%[0-9A-Fa-f]{2})*)\s*$/.exec(pair) ?? [];
    const decoded = value === undefined ? null : decodeValue(value);
    if (name === undefined || decoded === null) {
      context.issues.push({ code: "custom", message: "name=value pairs, separated by commas", input: text });
      return z.NEVER;
    }
    headers[name] = decoded;
  }
  return headers;
});

/** Decodes a percent-encoded header value; null if it is not UTF-8, or has characters that headers must not contain. */
function decodeValue(text: string): string | null {
  try {
    const value = decodeURIComponent(text);
    return /^[\x20-\x7e]*$/.test(value) ? value : null;
  } catch {
    return null;
  }
}

const oidcText = z.string().regex(/^[\x20-\x7e]{1,1000}$/, { error: "printable ASCII" });

/** A role in one or all projects, in the format of `svc operators create --role`. */
const createRole = z
  .string()
  .regex(/^(?:\*|[a-z0-9][a-z0-9-]{0,62}):(?:administrator|operator|viewer)$/, {
    error: "a project (or *), a colon and one of administrator, operator, viewer",
  })
  .transform((text) => {
    const [project = "", role = ""] = text.split(":");
    return { project, role: operatorRoleSchema.parse(role) };
  });

const isHttps = (url: string) => new URL(url).protocol === "https:";

/** Returns true for a URL of this machine, which needs no certificate. */
function isOnThisMachine(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

/** Returns false also for text that is not a URL, which another check reports. */
function hasCredentials(text: string): boolean {
  return URL.canParse(text) && (new URL(text).username !== "" || new URL(text).password !== "");
}

/** Minimum length of `SVC_SECRET_KEY`; keys created for the embedded mode are longer. */
const SECRET_KEY_MIN_CHARS = 32;

/**
 * All environment settings: schema, meaning, and default in words. docs/configuration.md is generated from this record.
 */
export const SETTINGS = {
  DATABASE_URL: {
    schema: urlOf("postgres:", "postgresql:").optional(),
    description: "PostgreSQL database (14 or newer) that stores all data.",
    defaultText: "an embedded PostgreSQL in the data folder",
    isSecret: true,
  },
  DATABASE_DIRECT_URL: {
    schema: urlOf("postgres:", "postgresql:").optional(),
    description:
      "The same database without a connection pooler in between. Required for migrations and backups, and for queues on PostgreSQL, if `DATABASE_URL` goes through a pooler in transaction mode.",
    defaultText: "`DATABASE_URL`",
    isSecret: true,
  },
  REDIS_URL: {
    schema: redisUrl.optional(),
    description:
      "Redis or Valkey (6.2 or newer, `maxmemory-policy noeviction`) for the queues: `redis://` or, with TLS, `rediss://`; `redis+sentinel://host1,host2/group` and `redis+cluster://host1,host2` for several servers. `?cacert=FILE` names the certificate authority. No message is lost if Redis loses its data.",
    defaultText: "the queues run on PostgreSQL",
    isSecret: true,
  },
  SVC_FILES_URL: {
    schema: z
      .string()
      .refine((text) => parseFilesUrl(text) !== null, {
        error: "a URL such as s3://key:secret@host:port/bucket?region=eu-central-1",
      })
      .optional(),
    description:
      "S3-compatible store for files of customers: `s3://key:secret@host:port/bucket/prefix?region=…&tls=false` (`region` defaults to `us-east-1`, `tls` to `true`; percent-encode key and secret). Files are moved there from PostgreSQL in the background. The bucket stays private and belongs to this installation alone.",
    defaultText: "files are stored in PostgreSQL",
    isSecret: true,
  },
  SVC_ADMIN_KEY: {
    schema: z.string().min(16, { error: "at least 16 characters" }).optional(),
    description:
      "API key of an administrator that is created at startup, for automation. When the value changes, the previous key is revoked. If set, no other administrator's key is created.",
    defaultText: "a key is generated at the first startup and printed once",
    isSecret: true,
  },
  SVC_SECRET_KEY: {
    schema: z
      .string()
      .min(SECRET_KEY_MIN_CHARS, { error: `at least ${SECRET_KEY_MIN_CHARS} characters` })
      .optional(),
    description:
      "Key that encrypts stored secrets (bot tokens, webhook secrets). Required with `DATABASE_URL`. All apps of an installation need the same key; an app with a different key does not start. Generate one with `openssl rand -base64 48`.",
    defaultText: "generated once and stored in the data folder",
    isSecret: true,
  },
  NODE_ENV: {
    schema: z.string().optional(),
    description:
      "With `production`, the service does not start on a Redis that may drop jobs; otherwise it logs a warning.",
    defaultText: "none (`production` in the container image)",
  },
  SVC_DATA_DIR: {
    schema: z.string().min(1, { error: "a folder" }).default(".svc"),
    description: "Data folder of the embedded mode: database, secret key, and the API key of the command line.",
    defaultText: "`.svc`",
  },
  SVC_STORAGE_INSTALLATION_MAX_MB: {
    schema: megabytes.default(51_200),
    description:
      "Maximum MB of files, documents, stored hook bodies and message texts of all projects together. Above it, files and documents are rejected with `storage_full`. Files of visitors can use at most half of it.",
    defaultText: "`51200` (50 GB)",
  },
  SVC_STORAGE_PROJECT_MAX_MB: {
    schema: megabytes.default(10_240),
    description: "Maximum MB per project, as for the installation.",
    defaultText: "`10240` (10 GB)",
  },
  SVC_STORAGE_CONVERSATION_MAX_MB: {
    schema: megabytes.default(500),
    description: "Maximum MB of files per conversation from customers, in the widget or on Telegram.",
    defaultText: "`500`",
  },
  SVC_STORAGE_VISITOR_DAY_MAX_MB: {
    schema: megabytes.default(200),
    description: "Maximum MB of files per conversation from customers within 24 hours.",
    defaultText: "`200`",
  },
  SVC_BIND_HOST: {
    schema: z.string().min(1, { error: "an address" }).optional(),
    description:
      "Address that all ports are bound to. If set, it overrides the setting `bindHost`, which applies to the HTTP API only.",
    defaultText: "`127.0.0.1`",
  },
  SVC_API_PORT: {
    schema: port.default(31416),
    description: "Port of the HTTP API.",
    defaultText: "`31416`",
  },
  SVC_WIDGET_PORT: {
    schema: port.default(31415),
    description: "Port of the web widget: its script and its API.",
    defaultText: "`31415`",
  },
  SVC_TOOLS_PORT: {
    schema: port.default(31417),
    description: "Port of the tool server. The MCP endpoint is `/mcp`.",
    defaultText: "`31417`",
  },
  SVC_CONSOLE_PORT: {
    schema: port.default(31418),
    description: "Port of the operator console.",
    defaultText: "`31418`",
  },
  SVC_METRICS_PORT: {
    schema: port.optional(),
    description:
      "Monitoring port of this process, with `/metrics`, `/healthz` and `/readyz`. It requires no key, so do not expose it. If not set, `/metrics` is available on the other ports, for clients on this machine only.",
    defaultText: "none",
  },
  SVC_TRUST_PROXY: {
    schema: proxies.optional(),
    description:
      "Addresses or networks of trusted proxies, separated by commas. Their `X-Forwarded-For` is used as the client address for rate limits. Behind a proxy that is not listed, all clients share one address.",
    defaultText: "none",
  },
  SVC_PUBLIC_URLS: {
    schema: publicUrls.optional(),
    description:
      "Public URLs of the ports, separated by commas: `https://tools.example.com`. The tool server, and the console if this is set, accept only requests to these hosts, to loopback and to the address they are bound to.",
    defaultText: "none",
  },
  SVC_SMTP_URL: {
    schema: smtpUrl.optional(),
    description:
      "Mail server that emails are sent through: `smtp://user:password@host:587`, or `smtps://…:465` with TLS from the start (percent-encode user and password). With a password, `smtp:` requires STARTTLS; `?tls=required`, `?tls=opportunistic` or `?tls=none` overrides this. Test it with `svc email test`.",
    defaultText: "no emails are sent",
    isSecret: true,
  },
  SVC_EMAIL_FROM: {
    schema: sender.optional(),
    description:
      "Sender of emails: `Example support <support@example.com>`. Required with `SVC_SMTP_URL`. The mail server must be allowed to send for this domain (SPF, DKIM).",
    defaultText: "none",
  },
  SVC_CONSOLE_URL: {
    schema: publicUrl.optional(),
    description: "Public URL of the console, for links in emails to operators.",
    defaultText: "the console's local address",
  },
  SVC_WIDGET_URL: {
    schema: publicUrl.optional(),
    description:
      "Public URL of the widget's port, with `https://`, for the link in emails to customers by which they unsubscribe.",
    defaultText: "the widget's local address",
  },
  SVC_CORS_ORIGINS: {
    schema: origins.optional(),
    description:
      "Websites whose pages can call the HTTP API and the tool server from a browser, separated by commas: `https://app.example.com`, or `app://obsidian.md` for a browser-based app; `*` for all sites. Use keys with few scopes in such pages, because every visitor can read them.",
    defaultText: "none",
  },
  SVC_MAX_OPEN_CALLS: {
    schema: count.default(100),
    description:
      "Maximum open long polls and event streams per key and address in one process of the HTTP API, and as many model pull requests. Further requests get 429.",
    defaultText: "`100`",
  },
  SVC_MAX_HELD_CALLS: {
    schema: count.default(2_000),
    description:
      "Maximum requests of mode `sync` that wait for a reply, per key and address in one process of the HTTP API. Further requests get 429.",
    defaultText: "`2000`",
  },
  SVC_MAX_SOCKETS_PER_ADDRESS: {
    schema: count.default(200),
    description:
      "Maximum widget sockets per address in one process; an office may share one address. Further sockets get 429, or close code 4429.",
    defaultText: "`200`",
  },
  SVC_MAX_SOCKETS: {
    schema: count.default(5_000),
    description: "Maximum widget sockets in one process. Further sockets get 429, or close code 4429.",
    defaultText: "`5000`",
  },
  SVC_WEBHOOK_ALLOW: {
    schema: hosts.optional(),
    description:
      "Private hosts and networks that callbacks can be sent to, separated by commas: `hooks.internal,10.1.0.0/16`. Loopback is allowed by default if all ports are bound to loopback and `SVC_TRUST_PROXY` is not set.",
    defaultText: "public addresses only",
  },
  SVC_FETCH_ALLOW: {
    schema: hosts.optional(),
    description:
      "Private hosts and networks that knowledge base pages can be fetched from and that tools of agents can call, separated by commas: `wiki.internal,10.2.0.0/16`. Loopback is only allowed if listed.",
    defaultText: "public addresses only",
  },
  SVC_EMBEDDINGS_BASE_URL: {
    schema: apiBase.optional(),
    description:
      "OpenAI-compatible server for embeddings (`POST …/embeddings`), for example `http://localhost:11434/v1` for Ollama. Searches in knowledge bases then use meaning in addition to keywords. The server can be private; all knowledge base texts and questions are sent to it. While it is unavailable, searches use keywords only.",
    defaultText: "none: searches use keywords only",
  },
  SVC_EMBEDDINGS_MODEL: {
    schema: modelName.optional(),
    description:
      "Embedding model, for example `nomic-embed-text`. Required with `SVC_EMBEDDINGS_BASE_URL`; must be the same for all apps of an installation. After a change, all passages are embedded again in the background.",
    defaultText: "none",
  },
  SVC_EMBEDDINGS_API_KEY: {
    schema: apiKey.optional(),
    description: "API key for `SVC_EMBEDDINGS_BASE_URL`, sent as a bearer token.",
    defaultText: "none",
    isSecret: true,
  },
  SVC_EMBEDDINGS_DIR: {
    schema: z.string().min(1, { error: "a folder" }).optional(),
    description:
      "Folder with a sentence-embedding model in ONNX and its tokenizer, as published for transformers.js. It runs in a worker thread of each app that searches, instead of `SVC_EMBEDDINGS_BASE_URL`; no data is sent to a server. See [supported models](models.md#embeddings-without-a-server). An app does not start if files are missing.",
    defaultText: "none",
  },
  SVC_LLM_BASE_URL: {
    schema: apiBase.optional(),
    description:
      "OpenAI-compatible server for language models (`POST …/chat/completions`), local or hosted, for example `http://localhost:11434/v1` for Ollama. Agents then answer with a language model. The server can be private; questions and relevant passages are sent to it. While it is unavailable, agents quote their knowledge bases.",
    defaultText: "none: agents quote their knowledge bases",
  },
  SVC_LLM_API: {
    schema: z.enum(["openai", "anthropic"], { error: "openai or anthropic" }).optional(),
    description: "API of `SVC_LLM_BASE_URL`: `openai` or `anthropic`.",
    defaultText: "`anthropic` for `https://api.anthropic.com/v1`, otherwise `openai`",
  },
  SVC_LLM_API_KEY: {
    schema: apiKey.optional(),
    description: "API key for `SVC_LLM_BASE_URL`, sent as a bearer token or in Anthropic's format.",
    defaultText: "none",
    isSecret: true,
  },
  SVC_LLM_MODEL: {
    schema: modelName.optional(),
    description:
      "Default model of agents, for example `llama3.2:3b` or `gpt-4o-mini`. If not set, only agents with a model of their own use one. An agent with the model `none` never uses one.",
    defaultText: "none",
  },
  SVC_LLM_TIMEOUT_MS: {
    schema: z
      .string()
      .regex(/^\d{1,6}$/, { error: "milliseconds" })
      .transform(Number)
      .refine((value) => value >= 1_000 && value <= 110_000, { error: "milliseconds from 1000 to 110000" })
      .default(20_000),
    description:
      "Maximum duration of an answer by a language model, in milliseconds, including retries and tools. After that, the agent answers without it.",
    defaultText: "`20000`",
  },
  SVC_LLM_PRICES: {
    schema: prices.optional(),
    description:
      'Prices of models in US dollars per million tokens, as JSON: `{"gpt-4o-mini":{"input":0.15,"output":0.6}}`. Tickets and statistics then show costs.',
    defaultText: "none: costs are not shown",
  },
  SVC_ANTHROPIC_API_KEY: {
    schema: apiKey.optional(),
    description:
      "API key of Anthropic, for models in addition to those of `SVC_LLM_BASE_URL`. Agents use them as `anthropic:claude-…`.",
    defaultText: "none",
    isSecret: true,
  },
  SVC_ANTHROPIC_BASE_URL: {
    schema: apiBase.default("https://api.anthropic.com/v1"),
    description: "URL of Anthropic's API, for example of a proxy.",
    defaultText: "`https://api.anthropic.com/v1`",
  },
  SVC_OLLAMA_BASE_URL: {
    schema: apiBase.optional(),
    description:
      "URL of an Ollama server, for example `http://localhost:11434`. Agents use its models as `ollama:llama3.2:3b`, and models can be pulled to it. Not needed if `SVC_LLM_BASE_URL` is an Ollama server.",
    defaultText: "none",
  },
  SVC_TELEGRAM_API_ROOT: {
    schema: apiBase.default("https://api.telegram.org"),
    description:
      "URL of Telegram's Bot API, for example of a self-hosted Bot API server. The bot token is part of every request URL.",
    defaultText: "`https://api.telegram.org`",
  },
  SVC_OIDC_ISSUER: {
    schema: issuer.optional(),
    description:
      "OpenID Connect provider for console sign-in, for example `https://login.example.com`. Operators are identified by their verified email address (`email_verified`). Register `<console>/oidc/callback` as the redirect URI.",
    defaultText: "none: operators sign in with a password",
  },
  SVC_OIDC_CLIENT_ID: {
    schema: oidcText.optional(),
    description: "Client ID of the console at the provider. Required with `SVC_OIDC_ISSUER`.",
    defaultText: "none",
  },
  SVC_OIDC_CLIENT_SECRET: {
    schema: oidcText.optional(),
    description: "Client secret for `SVC_OIDC_CLIENT_ID`. Required with `SVC_OIDC_ISSUER`.",
    defaultText: "none",
    isSecret: true,
  },
  SVC_OIDC_NAME: {
    schema: z
      .string()
      .regex(/^[^\p{C}]{1,60}$/u, { error: "1 to 60 characters" })
      .default("Single sign-on"),
    description: "Label of the single sign-on button on the sign-in page.",
    defaultText: "`Single sign-on`",
  },
  SVC_OIDC_CREATE_ROLE: {
    schema: createRole.optional(),
    description:
      "Role of new operators who sign in through the provider for the first time, such as `shop:operator`, or `*:viewer` for all projects. Their account is created automatically.",
    defaultText: "none: only existing operators can sign in",
  },
  SVC_LOG_LEVEL: {
    schema: z.enum(LOG_LEVELS, { error: `one of ${LOG_LEVELS.join(", ")}` }).default("info"),
    description: `Log level: ${LOG_LEVELS.join(", ")}. Logs are JSON lines on standard output.`,
    defaultText: "`info` (`warn` for `npm start`)",
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: apiBase.optional(),
    description:
      "OpenTelemetry collector for traces over HTTP, for example `http://localhost:4318`; `/v1/traces` is appended.",
    defaultText: "none: tracing is disabled",
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    schema: z
      .enum(["http/protobuf", "http/json"], { error: "http/protobuf or http/json (grpc is not supported)" })
      .default("http/protobuf"),
    description: "Protocol of the collector: `http/protobuf` or `http/json`.",
    defaultText: "`http/protobuf`",
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: otlpHeaders.optional(),
    description: "Headers for the collector, as `name=value` separated by commas, with percent-encoded values.",
    defaultText: "none",
    isSecret: true,
  },
  OTEL_SERVICE_NAME: {
    schema: z
      .string()
      .regex(/^[^\p{C}]{1,100}$/u, { error: "1 to 100 characters" })
      .optional(),
    description: "Service name of this process in traces.",
    defaultText: "`svc-` followed by the name of the app",
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: z
      .string()
      .regex(/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/, { error: "a number from 0 to 1" })
      .transform(Number)
      .prefault("1"),
    description:
      "Fraction of traces that are sampled, from 0 to 1. Applies to traces that start here; for others, the `traceparent` of the caller decides.",
    defaultText: "`1`",
  },
  SVC_QUEUE_PREFIX: {
    schema: z
      .string()
      .regex(/^[a-z0-9-]{1,40}$/, { error: "1 to 40 of a-z, 0-9 and -" })
      .default("svc"),
    description: "Prefix of all queue names, so that several installations can share one Redis.",
    defaultText: "`svc`",
  },
} as const;

export type SettingName = keyof typeof SETTINGS;
