import { isIP } from "node:net";
import { operatorRoleSchema } from "@svc/contracts";
import { LOG_LEVELS } from "@svc/log";
import { z } from "zod";

const port = z
  .string()
  .regex(/^\d{1,5}$/, { error: "a port number" })
  .transform(Number)
  .refine((value) => value <= 65_535, { error: "a port number up to 65535" });

const count = z
  .string()
  .regex(/^[1-9]\d{0,6}$/, { error: "a whole number from 1 to 9999999" })
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
  error: "URLs that begin with http:// or https://, separated by commas",
});

const hosts = list.refine((parts) => parts.every(isHostOrNetwork), {
  error: "host names, IP addresses or networks such as 10.0.0.0/8, separated by commas and without ports",
});

const origins = list.refine((parts) => parts.every(isOrigin), {
  error: "origins such as https://app.example.com without a path, separated by commas, or * for every site",
});

/** Of an app that shows pages of its own by a scheme of its own, such as `app://obsidian.md`. */
const APP_ORIGIN = /^(?!https?:|file:)[a-z][a-z0-9+.-]*:\/\/[\w.-]+$/;

/** True for the origin of a web site or an app as browsers send it, and for `*`. */
function isOrigin(text: string): boolean {
  if (text === "*" || APP_ORIGIN.test(text)) return true;
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** True for an address, a network, or a host name without port, path or wildcard. */
function isHostOrNetwork(text: string): boolean {
  return isAddressOrNetwork(text) || (/^[^\s/:@*[\]]+$/.test(text) && !/^[\d.]+$/.test(text));
}

/** True for an IP address, alone or with the length of a network's prefix, which is not 0: nobody is all the world. */
function isAddressOrNetwork(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}

const urlOf = (...protocols: string[]) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    error: `a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
  });

const apiBase = urlOf("http:", "https:").refine((text) => !hasCredentials(text), {
  error: "a URL without a user name and password",
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
    // Told just below, as any other value that is not valid.
  }
  context.issues.push({ code: "custom", message: priceError, input: text });
  return z.NEVER;
});

const issuer = z
  .string()
  .refine((text) => URL.canParse(text) && !hasCredentials(text) && (isHttps(text) || isOnThisMachine(text)), {
    error: "a URL that begins with https:// (on this machine itself http:// too), without a user name and password",
  });

/** The headers of the environment variable of that name (OpenTelemetry, "OTLP exporter configuration"). */
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

/** A percent-encoded value of a header; null where it is not UTF-8, or has what no header may have. */
function decodeValue(text: string): string | null {
  try {
    const value = decodeURIComponent(text);
    return /^[\x20-\x7e]*$/.test(value) ? value : null;
  } catch {
    return null;
  }
}

const oidcText = z.string().regex(/^[\x20-\x7e]{1,1000}$/, { error: "printable ASCII" });

/** A role in a project or in all of them, as `svc operators create --role` takes it. */
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

/** True for a URL of this machine itself, which needs no certificate. */
function isOnThisMachine(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

/** False also for what is no URL: that fault is told by another check. */
function hasCredentials(text: string): boolean {
  return URL.canParse(text) && (new URL(text).username !== "" || new URL(text).password !== "");
}

/** Shortest `SVC_SECRET_KEY`; what is made for the embedded mode is longer. */
const SECRET_KEY_MIN_CHARS = 32;

/**
 * Every setting that is read from the environment when a process starts: its schema, what it means, and its default in
 * words. This record is the source of docs/configuration.md.
 */
export const SETTINGS = {
  DATABASE_URL: {
    schema: urlOf("postgres:", "postgresql:").optional(),
    description: "PostgreSQL (14 or newer) that holds everything.",
    defaultText: "an embedded PostgreSQL in the data folder",
    isSecret: true,
  },
  REDIS_URL: {
    schema: urlOf("redis:", "rediss:").optional(),
    description:
      "Redis or Valkey (6.2 or newer, `maxmemory-policy noeviction`) that carries the queues. It may lose its data without a message being lost.",
    defaultText: "the queues run on PostgreSQL",
    isSecret: true,
  },
  SVC_ADMIN_KEY: {
    schema: z.string().min(16, { error: "at least 16 characters" }).optional(),
    description:
      "An administrator's API key that exists after the start, for automation. When it changes, the key that it made before is revoked. Where it is set, no other administrator's key is made.",
    defaultText: "a key is made on the first start and printed once",
    isSecret: true,
  },
  SVC_SECRET_KEY: {
    schema: z
      .string()
      .min(SECRET_KEY_MIN_CHARS, { error: `at least ${SECRET_KEY_MIN_CHARS} characters` })
      .optional(),
    description:
      "Seals secrets at rest (bot tokens, webhook secrets). Required with `DATABASE_URL`; every app of one installation needs the same, and an app with another one does not start. Make one with `openssl rand -base64 48`.",
    defaultText: "made once and kept in the data folder",
    isSecret: true,
  },
  NODE_ENV: {
    schema: z.string().optional(),
    description: "`production` refuses to start on a Redis that may drop jobs; elsewhere that is a warning.",
    defaultText: "none (`production` in the container image)",
    isSecret: false,
  },
  SVC_DATA_DIR: {
    schema: z.string().min(1, { error: "a folder" }).default(".svc"),
    description: "Folder of the embedded mode: database, secret key, and the credential of the command line.",
    defaultText: "`.svc`",
    isSecret: false,
  },
  SVC_STORAGE_INSTALLATION_MAX_MB: {
    schema: megabytes.default(51_200),
    description:
      "MB of files, documents, kept hook bodies and texts of messages that all projects may store together. Beyond it files and documents are rejected with `storage_full`; files of visitors may take half of it.",
    defaultText: "`51200` (50 GB)",
    isSecret: false,
  },
  SVC_STORAGE_PROJECT_MAX_MB: {
    schema: megabytes.default(10_240),
    description: "The same for each project.",
    defaultText: "`10240` (10 GB)",
    isSecret: false,
  },
  SVC_STORAGE_CONVERSATION_MAX_MB: {
    schema: megabytes.default(500),
    description: "MB of files that the customer of one conversation may store, in the widget or on Telegram.",
    defaultText: "`500`",
    isSecret: false,
  },
  SVC_STORAGE_VISITOR_DAY_MAX_MB: {
    schema: megabytes.default(200),
    description: "The same within 24 hours.",
    defaultText: "`200`",
    isSecret: false,
  },
  SVC_BIND_HOST: {
    schema: z.string().min(1, { error: "an address" }).optional(),
    description:
      "Address that every port is bound to. If set, it takes precedence over the setting `bindHost`, which is about the HTTP API only.",
    defaultText: "`127.0.0.1`",
    isSecret: false,
  },
  SVC_API_PORT: {
    schema: port.default(31416),
    description: "Port of the HTTP API.",
    defaultText: "`31416`",
    isSecret: false,
  },
  SVC_WIDGET_PORT: {
    schema: port.default(31415),
    description: "Port of the web widget: its script, and what its pages call.",
    defaultText: "`31415`",
    isSecret: false,
  },
  SVC_TOOLS_PORT: {
    schema: port.default(31417),
    description: "Port of the tool server, which MCP clients call at `/mcp`.",
    defaultText: "`31417`",
    isSecret: false,
  },
  SVC_CONSOLE_PORT: {
    schema: port.default(31418),
    description: "Port of the operator console.",
    defaultText: "`31418`",
    isSecret: false,
  },
  SVC_METRICS_PORT: {
    schema: port.optional(),
    description:
      "Port that serves `/metrics`, `/healthz` and `/readyz` of this process, for monitoring alone: it needs no key, so do not publish it. Where it is not set, `/metrics` is on the other ports, for callers on this machine alone.",
    defaultText: "none",
    isSecret: false,
  },
  SVC_TRUST_PROXY: {
    schema: proxies.optional(),
    description:
      "Addresses or networks of the proxies whose `X-Forwarded-For` is believed, separated by commas. The rate limit counts by the address of the caller: behind a proxy that is not named here, all callers share one.",
    defaultText: "none",
    isSecret: false,
  },
  SVC_PUBLIC_URLS: {
    schema: publicUrls.optional(),
    description:
      "URLs under which the ports are reached from outside, separated by commas: `https://tools.example.com`. The tool server, and the console where this is set, answer only calls to their hosts, to loopback and to the address that they are bound to.",
    defaultText: "none",
    isSecret: false,
  },
  SVC_CORS_ORIGINS: {
    schema: origins.optional(),
    description:
      "Web sites whose pages may call the HTTP API and the tool server from a browser, separated by commas: `https://app.example.com`, or `app://obsidian.md` of an app that is a browser itself; `*` for every site. Give such pages keys with few scopes, since every visitor can read them.",
    defaultText: "none",
    isSecret: false,
  },
  SVC_MAX_OPEN_CALLS: {
    schema: count.default(100),
    description:
      "Long polls and event streams that a key may have open from one address in one process of the HTTP API, and as many calls that follow pulls of models. A further one gets 429.",
    defaultText: "`100`",
    isSecret: false,
  },
  SVC_MAX_HELD_CALLS: {
    schema: count.default(2_000),
    description:
      "Messages of mode `sync` whose calls wait for the reply, which a key may have open from one address in one process of the HTTP API. A further one gets 429.",
    defaultText: "`2000`",
    isSecret: false,
  },
  SVC_MAX_SOCKETS_PER_ADDRESS: {
    schema: count.default(200),
    description:
      "Sockets of the widget that one address may have open in one process, as an office behind one address does. A further one gets 429, or the close code 4429.",
    defaultText: "`200`",
    isSecret: false,
  },
  SVC_MAX_SOCKETS: {
    schema: count.default(5_000),
    description: "Sockets of the widget that one process has open. A further one gets 429, or the close code 4429.",
    defaultText: "`5000`",
    isSecret: false,
  },
  SVC_WEBHOOK_ALLOW: {
    schema: hosts.optional(),
    description:
      "Hosts and networks that callbacks may go to although they are not public, separated by commas: `hooks.internal,10.1.0.0/16`. Loopback needs no entry while every port is bound to loopback and `SVC_TRUST_PROXY` is unset.",
    defaultText: "public addresses only",
    isSecret: false,
  },
  SVC_FETCH_ALLOW: {
    schema: hosts.optional(),
    description:
      "Hosts and networks that pages for knowledge bases may be fetched from, and tools of agents called at, although they are not public, separated by commas: `wiki.internal,10.2.0.0/16`. Loopback is called only where it is named here.",
    defaultText: "public addresses only",
    isSecret: false,
  },
  SVC_EMBEDDINGS_BASE_URL: {
    schema: apiBase.optional(),
    description:
      "An OpenAI-compatible server that makes embeddings (`POST …/embeddings`), as in `http://localhost:11434/v1` for Ollama. Searches in knowledge bases then go by meaning besides words. It need not be public; the texts of all knowledge bases and all questions are sent to it. While it does not answer, searches go by words alone.",
    defaultText: "none: searches go by words alone",
    isSecret: false,
  },
  SVC_EMBEDDINGS_MODEL: {
    schema: modelName.optional(),
    description:
      "The model that makes embeddings, as in `nomic-embed-text`. Required with `SVC_EMBEDDINGS_BASE_URL`; the same for all apps of an installation. With another one, all passages are embedded anew in the background.",
    defaultText: "none",
    isSecret: false,
  },
  SVC_EMBEDDINGS_API_KEY: {
    schema: apiKey.optional(),
    description: "Sent to `SVC_EMBEDDINGS_BASE_URL` as a bearer token.",
    defaultText: "none is sent",
    isSecret: true,
  },
  SVC_LLM_BASE_URL: {
    schema: apiBase.optional(),
    description:
      "A server with language models that speaks OpenAI's API (`POST …/chat/completions`), local or hosted, as in `http://localhost:11434/v1` for Ollama. Agents then answer with a model. It need not be public; questions and the passages that may answer them are sent to it. While it does not answer, agents quote as they do without one.",
    defaultText: "none: agents quote their knowledge bases",
    isSecret: false,
  },
  SVC_LLM_API: {
    schema: z.enum(["openai", "anthropic"], { error: "openai or anthropic" }).optional(),
    description: "Which API `SVC_LLM_BASE_URL` speaks: `openai` or `anthropic`.",
    defaultText: "`anthropic` for `https://api.anthropic.com/v1`, else `openai`",
    isSecret: false,
  },
  SVC_LLM_API_KEY: {
    schema: apiKey.optional(),
    description: "Sent to `SVC_LLM_BASE_URL`, as a bearer token or as Anthropic wants it.",
    defaultText: "none is sent",
    isSecret: true,
  },
  SVC_LLM_MODEL: {
    schema: modelName.optional(),
    description:
      "The model of agents that name none, as in `llama3.2:3b` or `gpt-4o-mini`. Without it only agents that name a model use one; an agent with the model `none` never does.",
    defaultText: "none",
    isSecret: false,
  },
  SVC_LLM_TIMEOUT_MS: {
    schema: z
      .string()
      .regex(/^\d{1,6}$/, { error: "milliseconds" })
      .transform(Number)
      .refine((value) => value >= 1_000 && value <= 110_000, { error: "milliseconds from 1000 to 110000" })
      .default(20_000),
    description:
      "How long a model may take for an answer, in milliseconds, tries and tools included. Then the agent answers without it.",
    defaultText: "`20000`",
    isSecret: false,
  },
  SVC_LLM_PRICES: {
    schema: prices.optional(),
    description:
      'What models cost, in US dollars for a million tokens, as JSON: `{"gpt-4o-mini":{"input":0.15,"output":0.6}}`. Tickets and statistics then say what was spent.',
    defaultText: "none: costs are not known",
    isSecret: false,
  },
  SVC_ANTHROPIC_API_KEY: {
    schema: apiKey.optional(),
    description:
      "A key of Anthropic's API, for models beside those of `SVC_LLM_BASE_URL`: agents name them as in `anthropic:claude-…`.",
    defaultText: "none",
    isSecret: true,
  },
  SVC_ANTHROPIC_BASE_URL: {
    schema: apiBase.default("https://api.anthropic.com/v1"),
    description: "Where Anthropic's API is; another address for a proxy of it.",
    defaultText: "`https://api.anthropic.com/v1`",
    isSecret: false,
  },
  SVC_OLLAMA_BASE_URL: {
    schema: apiBase.optional(),
    description:
      "An Ollama server, as in `http://localhost:11434`, whose models agents name as in `ollama:llama3.2:3b`, and to which models can be pulled. Where `SVC_LLM_BASE_URL` is an Ollama, this needs no setting.",
    defaultText: "none",
    isSecret: false,
  },
  SVC_TELEGRAM_API_ROOT: {
    schema: apiBase.default("https://api.telegram.org"),
    description:
      "Where Telegram's Bot API is; another address for a Bot API server of one's own. The bot token is part of every address that is called there.",
    defaultText: "`https://api.telegram.org`",
    isSecret: false,
  },
  SVC_OIDC_ISSUER: {
    schema: issuer.optional(),
    description:
      "An OpenID Connect provider by which operators sign in to the console, as in `https://login.example.com`. An operator whose e-mail address it vouches for (`email_verified`) is signed in. Register `<console>/oidc/callback` there as the redirect URI.",
    defaultText: "none: operators sign in by password",
    isSecret: false,
  },
  SVC_OIDC_CLIENT_ID: {
    schema: oidcText.optional(),
    description: "What the provider knows the console by. Required with `SVC_OIDC_ISSUER`.",
    defaultText: "none",
    isSecret: false,
  },
  SVC_OIDC_CLIENT_SECRET: {
    schema: oidcText.optional(),
    description: "The secret that belongs to `SVC_OIDC_CLIENT_ID`. Required with `SVC_OIDC_ISSUER`.",
    defaultText: "none",
    isSecret: true,
  },
  SVC_OIDC_NAME: {
    schema: z
      .string()
      .regex(/^[^\p{C}]{1,60}$/u, { error: "1 to 60 characters" })
      .default("Single sign-on"),
    description: "What the button on the sign-in page says.",
    defaultText: "`Single sign-on`",
    isSecret: false,
  },
  SVC_OIDC_CREATE_ROLE: {
    schema: createRole.optional(),
    description:
      "The role of whoever signs in by the provider and is no operator yet, as `shop:operator`, or `*:viewer` for every project. They become one by that.",
    defaultText: "none: only operators are let in",
    isSecret: false,
  },
  SVC_LOG_LEVEL: {
    schema: z.enum(LOG_LEVELS, { error: `one of ${LOG_LEVELS.join(", ")}` }).default("info"),
    description: `How much is logged: ${LOG_LEVELS.join(", ")}. Lines are JSON on standard output.`,
    defaultText: "`info` (`warn` for `npm start`)",
    isSecret: false,
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: apiBase.optional(),
    description:
      "A collector of OpenTelemetry that traces are sent to by HTTP, as in `http://localhost:4318`: `/v1/traces` is added.",
    defaultText: "none: nothing is traced",
    isSecret: false,
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    schema: z
      .enum(["http/protobuf", "http/json"], { error: "http/protobuf or http/json (grpc is not spoken)" })
      .default("http/protobuf"),
    description: "How spans are written for the collector: `http/protobuf` or `http/json`.",
    defaultText: "`http/protobuf`",
    isSecret: false,
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: otlpHeaders.optional(),
    description: "Headers for the collector, as `name=value` separated by commas, with values percent-encoded.",
    defaultText: "none",
    isSecret: true,
  },
  OTEL_SERVICE_NAME: {
    schema: z
      .string()
      .regex(/^[^\p{C}]{1,100}$/u, { error: "1 to 100 characters" })
      .optional(),
    description: "What this process is called in traces.",
    defaultText: "`svc-` and the name of the app",
    isSecret: false,
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: z
      .string()
      .regex(/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/, { error: "a number from 0 to 1" })
      .transform(Number)
      .prefault("1"),
    description:
      "The share of traces that is kept, from 0 to 1, of those that begin here. What a caller has begun is kept where its `traceparent` says so.",
    defaultText: "`1`",
    isSecret: false,
  },
  SVC_QUEUE_PREFIX: {
    schema: z
      .string()
      .regex(/^[a-z0-9-]{1,40}$/, { error: "1 to 40 of a-z, 0-9 and -" })
      .default("svc"),
    description: "Begins the names of all queues, so that several installations can share one Redis.",
    defaultText: "`svc`",
    isSecret: false,
  },
} as const;

export type SettingName = keyof typeof SETTINGS;
