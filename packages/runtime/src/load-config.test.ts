import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { describeSettings } from "./describe-pages.ts";
import { ConfigError, loadConfig, readEnvironment } from "./load-config.ts";
import { SETTINGS } from "./settings-schema.ts";

const PLANTED = "Planted!";
const NEEDED = {
  DATABASE_URL: "postgres://svc:secret@localhost:5432/svc",
  SVC_SECRET_KEY: "0123456789abcdef0123456789abcdef",
};

/** A bad value of every setting that can have one; it contains a text that must not be shown. */
const BAD = {
  DATABASE_URL: `mysql://user:${PLANTED}@localhost/svc`,
  DATABASE_DIRECT_URL: `mysql://${PLANTED}`,
  REDIS_URL: `http://${PLANTED}`,
  SVC_FILES_URL: `s3://key:${PLANTED}@s3.example.com`,
  SVC_SMTP_URL: `smtp://user:${PLANTED}@mail.example.com/path`,
  SVC_EMAIL_FROM: PLANTED,
  SVC_CONSOLE_URL: `https://user:${PLANTED}@console.example.com`,
  SVC_ADMIN_KEY: PLANTED,
  SVC_SECRET_KEY: PLANTED,
  SVC_API_PORT: PLANTED,
  SVC_WIDGET_PORT: "65536",
  SVC_TOOLS_PORT: "-1",
  SVC_CONSOLE_PORT: "31418 ",
  SVC_METRICS_PORT: "9464.5",
  SVC_LOG_LEVEL: PLANTED,
  SVC_QUEUE_PREFIX: PLANTED,
};

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-config-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes a file and returns its path. */
async function fileWith(text: string): Promise<string> {
  const path = join(folder, `value-${Math.random()}`);
  await writeFile(path, text);
  return path;
}

/** Returns the errors that a reader throws. */
function errorsOf(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("an empty environment", () => {
  test("gives the documented defaults", () => {
    expect(readEnvironment({})).toMatchObject({
      databaseUrl: undefined,
      redisUrl: undefined,
      adminKey: undefined,
      secretKey: undefined,
      dataDir: ".svc",
      bindHost: undefined,
      ports: { api: 31416, widget: 31415, tools: 31417, console: 31418, metrics: undefined },
      trustProxy: [],
      publicUrls: [],
      logLevel: "info",
      queuePrefix: "svc",
    });
  });

  test("is what empty variables are too, as docker compose passes them", () => {
    const empty = Object.keys(SETTINGS).flatMap((name) => [name, `${name}_FILE`]);
    expect(readEnvironment(Object.fromEntries(empty.map((name) => [name, ""])))).toEqual(readEnvironment({}));
  });

  test("is not enough for a single app: both missing settings are named, with what to do", () => {
    expect(errorsOf(() => loadConfig({}))).toEqual([
      expect.stringMatching(/^DATABASE_URL is required .*npm start/),
      expect.stringMatching(/^SVC_SECRET_KEY is required .*openssl rand -base64 48$/),
    ]);
    expect(errorsOf(() => loadConfig({ DATABASE_URL: NEEDED.DATABASE_URL }))).toEqual([
      expect.stringMatching(/^SVC_SECRET_KEY is required/),
    ]);
    expect(errorsOf(() => loadConfig({ SVC_SECRET_KEY: NEEDED.SVC_SECRET_KEY }))).toEqual([
      expect.stringMatching(/^DATABASE_URL is required/),
    ]);
  });

  test("has no pooler: the direct URL is that of the database, and never without it", () => {
    const direct = "postgres://svc@db/svc";
    expect(loadConfig(NEEDED).directUrl).toBe(NEEDED.DATABASE_URL);
    expect(loadConfig({ ...NEEDED, DATABASE_DIRECT_URL: direct }).directUrl).toBe(direct);
    expect(errorsOf(() => readEnvironment({ DATABASE_DIRECT_URL: direct }))).toEqual([
      expect.stringMatching(/^DATABASE_URL is required with DATABASE_DIRECT_URL/),
    ]);
  });
});

describe("values", () => {
  test("that are right are read, and foreign variables are ignored", () => {
    const config = loadConfig({
      ...NEEDED,
      REDIS_URL: "rediss://:secret@cache:6380/1",
      SVC_ADMIN_KEY: "a key of 16 and more: é",
      SVC_DATA_DIR: "/var/lib/svc",
      SVC_BIND_HOST: "::1",
      SVC_API_PORT: "0",
      SVC_METRICS_PORT: "65535",
      SVC_TRUST_PROXY: " 10.0.0.0/8, ,127.0.0.1 ",
      SVC_PUBLIC_URLS: "https://a.example,https://b.example",
      SVC_LOG_LEVEL: "debug",
      SVC_QUEUE_PREFIX: "svc-2",
      PATH: "/bin",
      SVC_UNKNOWN: "x",
    });
    expect(config).toMatchObject({
      databaseUrl: NEEDED.DATABASE_URL,
      secretKey: NEEDED.SVC_SECRET_KEY,
      redisUrl: "rediss://:secret@cache:6380/1",
      adminKey: "a key of 16 and more: é",
      dataDir: "/var/lib/svc",
      bindHost: "::1",
      ports: { api: 0, widget: 31415, metrics: 65_535 },
      trustProxy: ["10.0.0.0/8", "127.0.0.1"],
      publicUrls: ["https://a.example", "https://b.example"],
      logLevel: "debug",
      queuePrefix: "svc-2",
    });
  });

  test("that are bad are all named at once, and none is shown", () => {
    const errors = errorsOf(() => readEnvironment(BAD));
    expect(errors.map((error) => error.split(" ")[0]).toSorted()).toEqual(Object.keys(BAD).toSorted());
    let shown = "";
    try {
      loadConfig(BAD);
    } catch (error) {
      shown = String(error) + JSON.stringify(error);
    }
    expect(shown).toContain("docs/configuration.md");
    for (const error of errors) expect(shown).toContain(error);
    for (const value of [PLANTED, "mysql", "65536", "9464.5"]) expect(shown).not.toContain(value);
  });

  test.each(Object.entries(BAD))("of %s that are bad are told as what would be right", (name, value) => {
    expect(errorsOf(() => readEnvironment({ [name]: value }))).toEqual([
      expect.stringMatching(new RegExp(`^${name} must be (a|at|one|1) [^:]+`)),
    ]);
  });
});

test.each(["0.0.0.0/0", "::/0", "10.0.0.0/33", "proxy"])("%s is no proxy that can be trusted", (text) => {
  expect(errorsOf(() => readEnvironment({ SVC_TRUST_PROXY: text }))).toEqual([
    expect.stringContaining("SVC_TRUST_PROXY"),
  ]);
});

test.each(["https://hooks.internal", "hooks.internal:8080", "*.internal", "10.0.0.1/8/8", "1.2.3"])(
  "%s is no host or network that callbacks or fetches may be allowed to",
  (text) => {
    expect(errorsOf(() => readEnvironment({ SVC_WEBHOOK_ALLOW: text, SVC_FETCH_ALLOW: text }))).toEqual([
      expect.stringContaining("SVC_WEBHOOK_ALLOW"),
      expect.stringContaining("SVC_FETCH_ALLOW"),
    ]);
  },
);

test.each([
  "app.example.com",
  "https://app.example.com/",
  "https://app.example.com/path",
  "https://*.example.com",
  "null",
  "file://",
  "app://*",
  "app://obsidian.md/",
  "javascript:alert(1)",
])("%s is no origin of a web site", (text) => {
  expect(errorsOf(() => readEnvironment({ SVC_CORS_ORIGINS: text }))).toEqual([
    expect.stringContaining("SVC_CORS_ORIGINS"),
  ]);
});

test("an app that shows its pages by a scheme of its own has an origin, too", () => {
  const text = "app://obsidian.md, https://app.example.com";
  expect(readEnvironment({ SVC_CORS_ORIGINS: text }).corsOrigins).toEqual(text.split(", "));
});

describe("a server with models", () => {
  const namesOf = (env: Record<string, string>) =>
    readEnvironment(env).models?.providers.map(({ name, baseUrl }) => `${name} ${baseUrl}`);
  const LOCAL = "http://localhost:11434";

  test.each<[string, Record<string, string>, string[] | undefined]>([
    ["is not there where none is named", {}, undefined],
    ["is called by its API", { SVC_LLM_BASE_URL: "https://api.openai.com/v1" }, ["openai https://api.openai.com/v1"]],
    ["is called ollama on Ollama's port", { SVC_LLM_BASE_URL: `${LOCAL}/v1` }, [`ollama ${LOCAL}/v1`]],
    [
      "is one and the same where both settings name it",
      { SVC_LLM_BASE_URL: "http://gpu:8000/v1/", SVC_OLLAMA_BASE_URL: "http://gpu:8000/" },
      ["ollama http://gpu:8000/v1/"],
    ],
    [
      "is called by its API beside the Ollama that is named",
      { SVC_LLM_BASE_URL: "http://gpu:11434/v1", SVC_OLLAMA_BASE_URL: LOCAL },
      ["openai http://gpu:11434/v1", `ollama ${LOCAL}/v1`],
    ],
    [
      "of Anthropic is called so on any port",
      { SVC_LLM_BASE_URL: `${LOCAL}/v1`, SVC_LLM_API: "anthropic" },
      [`anthropic ${LOCAL}/v1`],
    ],
  ])("%s", (_what, env, names) => {
    expect(namesOf(env)).toEqual(names);
  });
});

describe("a value in a file", () => {
  test.each(Object.keys(SETTINGS))("is possible for %s", async (name) => {
    const good: Record<string, string> = {
      ...NEEDED,
      DATABASE_DIRECT_URL: "postgres://svc@db/svc",
      REDIS_URL: "redis://cache:6379",
      SVC_ADMIN_KEY: "a key of 16 and more",
      SVC_LOG_LEVEL: "warn",
      SVC_TRUST_PROXY: "10.0.0.0/8",
      SVC_PUBLIC_URLS: "https://a.example",
      SVC_WEBHOOK_ALLOW: "hooks.internal",
      SVC_FETCH_ALLOW: "wiki.internal",
      SVC_EMBEDDINGS_BASE_URL: "http://localhost:11434/v1",
      SVC_CORS_ORIGINS: "https://app.example.com",
      SVC_LLM_BASE_URL: "http://localhost:11434/v1",
      SVC_FILES_URL: "s3://key:secret@s3.example.com/bucket",
      SVC_SMTP_URL: "smtp://user:secret@mail.example.com",
      SVC_EMAIL_FROM: "Support <support@example.com>",
      SVC_CONSOLE_URL: "https://console.example.com",
      SVC_WIDGET_URL: "https://chat.example.com",
      SVC_LLM_API: "anthropic",
      SVC_LLM_PRICES: '{"small":{"input":0.1,"output":0.2}}',
      SVC_ANTHROPIC_BASE_URL: "https://models.example/v1",
      SVC_OLLAMA_BASE_URL: "http://localhost:11434",
      SVC_TELEGRAM_API_ROOT: "http://bots.internal:8081",
      SVC_OIDC_ISSUER: "https://login.example.com",
      SVC_OIDC_CREATE_ROLE: "shop:operator",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
    };
    const value = good[name] ?? "1234";
    // A server of embeddings needs a model, a provider of single sign-on an id and a secret, a mail server a sender.
    const needed = {
      DATABASE_URL: NEEDED.DATABASE_URL,
      SVC_EMBEDDINGS_MODEL: "nomic-embed-text",
      SVC_EMAIL_FROM: "support@example.com",
      SVC_OIDC_CLIENT_ID: "svc-console",
      SVC_OIDC_CLIENT_SECRET: "a-secret",
    };
    const beside = Object.fromEntries(Object.entries(needed).filter(([other]) => other !== name));
    const fromFile = readEnvironment({ ...beside, [`${name}_FILE`]: await fileWith(value) });
    expect({ ...fromFile, secretKeyFile: undefined }).toEqual(readEnvironment({ ...beside, [name]: value }));
  });

  test("loses the end of its line and nothing else", async () => {
    const read = async (text: string) => readEnvironment({ SVC_ADMIN_KEY_FILE: await fileWith(text) }).adminKey;
    const key = " a key with spaces around ";
    expect(await read(key)).toBe(key);
    expect(await read(`${key}\n`)).toBe(key);
    expect(await read(`${key}\r\n`)).toBe(key);
    expect(await read(`${key}\n\n`)).toBe(`${key}\n`);
  });

  test("is checked like any other, and not shown", async () => {
    const path = await fileWith(`${PLANTED}\n`);
    expect(errorsOf(() => readEnvironment({ SVC_SECRET_KEY_FILE: path }))).toEqual([
      `SVC_SECRET_KEY must be at least 32 characters (read from ${path})`,
    ]);
  });

  test("that is empty is a fault, not a setting that is left out", async () => {
    const empty = await fileWith("\n");
    for (const name of ["DATABASE_URL", "SVC_SECRET_KEY", "SVC_DATA_DIR", "SVC_BIND_HOST"]) {
      expect(errorsOf(() => readEnvironment({ [`${name}_FILE`]: empty }))).toEqual([
        expect.stringMatching(new RegExp(`^${name} must be (a|an|at) [^:]+`)),
      ]);
    }
  });

  test("that is not there, or is a folder, is one fault with its reason", () => {
    expect(errorsOf(() => readEnvironment({ SVC_ADMIN_KEY_FILE: join(folder, "nowhere") }))).toEqual([
      "SVC_ADMIN_KEY_FILE is the path of a file that cannot be read (ENOENT)",
    ]);
    expect(errorsOf(() => readEnvironment({ SVC_API_PORT_FILE: folder }))).toEqual([
      "SVC_API_PORT_FILE is the path of a file that cannot be read (EISDIR)",
    ]);
  });

  test("beside the value itself is one fault, even when they agree", async () => {
    const value = "a key of 16 and more";
    const path = await fileWith(value);
    expect(errorsOf(() => readEnvironment({ SVC_ADMIN_KEY: value, SVC_ADMIN_KEY_FILE: path }))).toEqual([
      "SVC_ADMIN_KEY and SVC_ADMIN_KEY_FILE are both set; remove one of them",
    ]);
  });
});

describe("the page about the configuration", () => {
  const page = describeSettings();

  test("has a row for every setting, with what it is and its default", () => {
    const rows = page.split("\n").filter((line) => /^\| `[A-Z_]+` \|/.test(line));
    expect(rows.map((row) => row.split("`")[1])).toEqual(Object.keys(SETTINGS));
    for (const row of rows) expect(row).toMatch(/^\| `[A-Z_]+` \| [^|]{10,} \| [^|]{3,} \|$/);
  });

  test("names the defaults that the code has", () => {
    const { ports, dataDir, queuePrefix, logLevel } = readEnvironment({});
    const defaults = {
      SVC_API_PORT: ports.api,
      SVC_WIDGET_PORT: ports.widget,
      SVC_TOOLS_PORT: ports.tools,
      SVC_CONSOLE_PORT: ports.console,
      SVC_DATA_DIR: dataDir,
      SVC_QUEUE_PREFIX: queuePrefix,
      SVC_LOG_LEVEL: logLevel,
    };
    for (const [name, value] of Object.entries(defaults)) {
      expect(page).toMatch(new RegExp(`^\\| \`${name}\` \\|[^|]+\\| \`${value}\``, "m"));
    }
  });

  test("names every setting that changes while the service runs", () => {
    const settings = [
      "enabled",
      "api.config.bindHost",
      "api.config.timeoutMs",
      "api.config.webhookSecret",
      "widget.config.apiKey",
      "widget.config.allowedOrigins",
      "messenger.config.botToken",
    ];
    for (const setting of settings) expect(page).toContain(`\`channels_config.${setting}\``);
  });
});

describe("the embedding endpoint", () => {
  const BASE = { SVC_EMBEDDINGS_BASE_URL: "http://ollama.internal:11434/v1" };

  test("is an address and a model, with a key or without", () => {
    expect(loadConfig(NEEDED).embeddings).toBeUndefined();
    const env = { ...NEEDED, ...BASE, SVC_EMBEDDINGS_MODEL: "hf.co/nomic-ai/nomic-embed-text:v1.5" };
    const endpoint = { baseUrl: BASE.SVC_EMBEDDINGS_BASE_URL, model: env.SVC_EMBEDDINGS_MODEL };
    expect(loadConfig(env).embeddings).toEqual(endpoint);
    expect(loadConfig({ ...env, SVC_EMBEDDINGS_API_KEY: "sk-1" }).embeddings).toEqual({ ...endpoint, apiKey: "sk-1" });
  });

  test("can be a folder with a model, which then is the only one", () => {
    const env = { ...NEEDED, SVC_EMBEDDINGS_DIR: "/models/e5" };
    expect(loadConfig(env).embeddings).toEqual({ dir: "/models/e5" });
    expect(errorsOf(() => loadConfig({ ...env, ...BASE, SVC_EMBEDDINGS_MODEL: "m" }))).toEqual([
      "SVC_EMBEDDINGS_DIR and SVC_EMBEDDINGS_BASE_URL are both set; remove one of them",
    ]);
  });

  test("needs a model", () => {
    expect(errorsOf(() => readEnvironment(BASE))).toEqual([
      expect.stringContaining("SVC_EMBEDDINGS_MODEL is required"),
    ]);
  });

  test.each([
    ["SVC_EMBEDDINGS_BASE_URL", "nope"],
    ["SVC_EMBEDDINGS_BASE_URL", "localhost:11434"],
    ["SVC_EMBEDDINGS_BASE_URL", "ftp://a.example/v1"],
    ["SVC_EMBEDDINGS_BASE_URL", "http://user:pass@a.example/v1"],
    ["SVC_EMBEDDINGS_MODEL", "two words"],
    ["SVC_EMBEDDINGS_API_KEY", "with a\nline break"],
  ])("%s cannot be %j", (name, text) => {
    const model = name === "SVC_EMBEDDINGS_BASE_URL" ? { SVC_EMBEDDINGS_MODEL: "m" } : {};
    expect(errorsOf(() => readEnvironment({ ...model, [name]: text }))).toEqual([expect.stringContaining(name)]);
  });
});

describe("traces", () => {
  test("are sent where a collector is named, all of them as protobuf unless it is said otherwise", () => {
    expect(readEnvironment({}).tracing).toBeUndefined();
    expect(readEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" }).tracing).toEqual({
      endpoint: "http://collector:4318",
      protocol: "http/protobuf",
      headers: {},
      serviceName: undefined,
      sampleRatio: 1,
    });
    const { tracing } = readEnvironment({
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://otlp.example",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20YWI=, x-scope = a ,",
      OTEL_SERVICE_NAME: "shop",
      OTEL_TRACES_SAMPLER_ARG: "0.1",
    });
    expect(tracing).toEqual({
      endpoint: "https://otlp.example",
      protocol: "http/json",
      headers: { authorization: "Basic YWI=", "x-scope": "a" },
      serviceName: "shop",
      sampleRatio: 0.1,
    });
  });

  test.each([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:secret@collector"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "no-value"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=b%0d%0ac"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=%ff"],
    ["OTEL_TRACES_SAMPLER_ARG", "1.5"],
    ["OTEL_TRACES_SAMPLER_ARG", "half"],
  ])("%s cannot be %j", (name, text) => {
    expect(errorsOf(() => readEnvironment({ [name]: text }))).toEqual([expect.stringContaining(name)]);
  });
});

describe("single sign-on", () => {
  const OIDC = {
    SVC_OIDC_ISSUER: "https://login.example.com/realms/svc",
    SVC_OIDC_CLIENT_ID: "svc-console",
    SVC_OIDC_CLIENT_SECRET: "s3cret",
  };

  test("is a provider with an id and a secret, and a role for whoever is new where one is named", () => {
    expect(readEnvironment({}).oidc).toBeUndefined();
    const { oidc } = readEnvironment(OIDC);
    expect(oidc).toEqual({
      issuer: OIDC.SVC_OIDC_ISSUER,
      clientId: "svc-console",
      clientSecret: "s3cret",
      name: "Single sign-on",
      createRole: undefined,
    });
    const role = (text: string) => readEnvironment({ ...OIDC, SVC_OIDC_CREATE_ROLE: text }).oidc?.createRole;
    expect(role("shop:operator")).toEqual({ project: "shop", role: "operator" });
    expect(role("*:viewer")).toEqual({ project: "*", role: "viewer" });
  });

  test("needs an id and a secret", () => {
    expect(errorsOf(() => readEnvironment({ SVC_OIDC_ISSUER: OIDC.SVC_OIDC_ISSUER }))).toEqual([
      expect.stringContaining("SVC_OIDC_CLIENT_ID is required"),
      expect.stringContaining("SVC_OIDC_CLIENT_SECRET is required"),
    ]);
  });

  test.each([
    ["SVC_OIDC_ISSUER", "http://login.example.com"],
    ["SVC_OIDC_ISSUER", "https://user:pass@login.example.com"],
    ["SVC_OIDC_ISSUER", "login.example.com"],
    ["SVC_OIDC_CREATE_ROLE", "operator"],
    ["SVC_OIDC_CREATE_ROLE", "shop:owner"],
  ])("%s cannot be %j", (name, text) => {
    expect(errorsOf(() => readEnvironment({ ...OIDC, [name]: text }))).toEqual([expect.stringContaining(name)]);
  });
});
