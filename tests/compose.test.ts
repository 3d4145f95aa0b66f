import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SETTINGS } from "@svc/runtime";
import { repositoryPath } from "@svc/testing";
import { afterAll, describe, expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { parse } from "yaml";

const text = readFileSync(repositoryPath("docker-compose.yml"), "utf8");

/** Fields that the rules below check; the Compose schema checks the whole file. */
interface ComposeFile {
  services: Record<
    string,
    {
      image: string;
      ports?: string[];
      read_only?: boolean;
      init?: boolean;
      cap_drop?: string[];
      cap_add?: string[];
      security_opt?: string[];
      healthcheck?: { disable?: boolean; test?: string[]; interval?: string; timeout?: string; start_period?: string };
      pids_limit?: number;
      volumes?: string[];
      command?: string[];
      networks?: string[];
      environment?: Record<string, string>;
      stop_grace_period?: string;
      container_name?: string;
      profiles?: string[];
    }
  >;
  networks: Record<string, { internal?: boolean }>;
}

const compose = parse(text, { merge: true, maxAliasCount: -1 }) as ComposeFile;
const { services, networks } = compose;
const all = Object.entries(services);
const apps = ["api", "pipeline", "widget", "tool-server", "messenger", "console"];
const ONE_SHOT = ["secrets", "database-role", "migrate"];
const namesWhere = (isMeant: (service: (typeof all)[number][1]) => boolean) =>
  all.filter(([, service]) => isMeant(service)).map(([name]) => name);

describe("docker-compose.yml", () => {
  test("is valid according to the Compose schema", () => {
    const ajv = new Ajv({ strict: false, allErrors: true });
    // Custom formats of Compose. They accept any text; other rules of the schema check the values.
    addFormats.default(ajv).addFormat("expose", true).addFormat("ports", true).addFormat("subnet_ip_address", true);
    const fixture = readFileSync(repositoryPath("tests/fixtures/compose-spec.json"), "utf8");
    const { $schema: _, ...rules } = JSON.parse(fixture) as Record<string, unknown>;
    const validate = ajv.compile(rules);
    validate(compose);
    expect(validate.errors).toBeNull();
    expect(validate({ services: { api: { imago: "svc" } } })).toBe(false);
  });

  test("has the services that the documentation names, with each optional one in its profile", () => {
    expect(namesWhere(({ profiles }) => profiles === undefined).toSorted()).toEqual(
      [...apps, ...ONE_SHOT, "proxy", "postgres", "redis"].toSorted(),
    );
    expect(Object.fromEntries(all.map(([name, { profiles }]) => [name, profiles?.[0]]))).toMatchObject({
      "proxy-https": "https",
      prometheus: "observability",
      grafana: "observability",
      ollama: "models",
    });
  });

  test("publishes ports only through the proxy, and places the databases in a network without internet access", () => {
    expect(namesWhere(({ ports }) => ports !== undefined)).toEqual(["proxy", "proxy-https"]);
    expect(networks.data?.internal).toBe(true);
    expect(namesWhere((service) => service.networks?.includes("front") !== true)).toEqual([
      "secrets",
      "postgres",
      "database-role",
      "redis",
    ]);
    expect(services.proxy?.networks).toEqual(["front"]);
    for (const port of services.proxy?.ports ?? []) expect(port).toMatch(/^\$\{SVC_PUBLISH_HOST:-127\.0\.0\.1\}:/);
  });

  test("grants each container only the rights that it needs", () => {
    expect(namesWhere(({ cap_drop: dropped }) => dropped?.join() !== "ALL")).toEqual([]);
    expect(namesWhere(({ read_only: isReadOnly }) => isReadOnly !== true)).toEqual([]);
    expect(namesWhere(({ init }) => init !== true)).toEqual([]);
    // A container that switches users receives no signal from init without this capability, and would be killed at each
    // stop.
    const changesUser = namesWhere(({ cap_add: added }) => added?.includes("SETUID") === true);
    expect(changesUser).toEqual(namesWhere(({ cap_add: added }) => added?.includes("KILL") === true));
    expect(changesUser).toEqual(expect.arrayContaining(["postgres", "redis"]));
    expect(namesWhere(({ pids_limit: limit }) => limit === undefined)).toEqual([]);
    expect(namesWhere(({ security_opt: options }) => options?.join() !== "no-new-privileges:true")).toEqual([]);
  });

  test("has a health check for every long-running container, and can scale every app", () => {
    const unasked = namesWhere(({ healthcheck }) => healthcheck?.test === undefined || healthcheck.disable === true);
    expect(unasked).toEqual(ONE_SHOT);
    expect(namesWhere(({ container_name: name }) => name !== undefined)).toEqual([]);
    // Longer than the 9.5 s after which a process exits in any case.
    for (const app of apps) expect(services[app]?.stop_grace_period).toBe("15s");
  });

  test("checks health without starting Node.js, infrequently, and with a timeout suitable for a busy machine", () => {
    for (const [name, { healthcheck }] of all) {
      if (ONE_SHOT.includes(name)) continue;
      expect(healthcheck?.test?.join(" ")).not.toMatch(/\b(?:node|npm|npx|svc)\b/);
      expect(Number.parseInt(healthcheck?.interval ?? "", 10)).toBeGreaterThanOrEqual(15);
      expect(healthcheck).toMatchObject({ timeout: "10s", start_period: expect.stringMatching(/^\d\ds$/) });
    }
    for (const app of apps) expect(services[app]?.healthcheck).toEqual(services.api?.healthcheck);
  });

  test.each([
    { answer: "HTTP/1.1 200 OK\r\n\r\n{}", exitCode: 0 },
    { answer: "HTTP/1.1 503 Service Unavailable\r\n\r\n{}", exitCode: 1 },
    { answer: "", exitCode: 1 },
    { answer: null, exitCode: 1 },
  ])("an app that responds to readiness checks with $answer: exit code $exitCode", async ({ answer, exitCode }) => {
    let request = "";
    const server = createServer((socket) => {
      socket
        .on("error", () => undefined)
        .on("data", (data) => {
          request += data.toString();
          if (request.endsWith("\r\n\r\n")) socket.end(answer ?? "");
        });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const close = () => new Promise((resolve) => server.close(resolve));
    if (answer === null) await close();
    const [, program = "", ...args] = services.api?.healthcheck?.test ?? [];
    const command = args.map((arg) => arg.replaceAll("$$", "$").replace("/9464", `/${port}`));
    const result = await promisify(execFile)(program, command).then(
      () => 0,
      (error: { code?: number }) => error.code,
    );
    expect(result).toBe(exitCode);
    if (answer === null) return;
    expect(request).toBe("GET /readyz HTTP/1.0\r\n\r\n");
    await close();
  });

  test("names every image with a version that can be replaced by a digest", () => {
    const ours = /^svc:\$\{SVC_VERSION:-local\}$/;
    for (const [, { image }] of all)
      if (!ours.test(image)) expect(image).toMatch(/^\$\{[A-Z]+_IMAGE:-[\w/.-]+:v?\d+\.\d+(?:\.\d+)?\}$/);
    const dockerfile = readFileSync(repositoryPath("infra/docker/Dockerfile"), "utf8");
    expect(Array.from(dockerfile.matchAll(/^FROM (\S+)/gm), ([, image]) => image)).toEqual([
      "${NODE_IMAGE}",
      "${NODE_IMAGE}",
    ]);
    const node = /^ARG NODE_IMAGE=(node:24\.\d+\.\d+-bookworm-slim)$/m.exec(dockerfile)?.[1];
    expect(text).toContain(`\${NODE_IMAGE:-${node}}`);
    // Digests are not used: see "Supply chain" in SECURITY.md.
    expect(`${text}${dockerfile}`).not.toMatch(/@sha256|# syntax=/);
  });

  test("mounts into each container only the secrets that it needs", () => {
    const groupsOf = (name: string) =>
      (services[name]?.volumes ?? []).flatMap((volume) =>
        /^(secrets|grafana-secret)/.test(volume) ? [volume.replace(/:.*/, "").replace(/^secrets-of-/, "")] : [],
      );
    const found = Object.fromEntries(all.map(([name]) => [name, groupsOf(name)]));
    expect(found).toEqual({
      secrets: ["secrets", "apps", "administration", "models", "console", "postgres", "redis", "grafana-secret"],
      migrate: ["apps", "administration"],
      api: ["apps", "administration", "models"],
      pipeline: ["apps", "models"],
      "tool-server": ["apps", "models"],
      console: ["apps", "models", "console"],
      widget: ["apps"],
      messenger: ["apps"],
      postgres: ["postgres"],
      "database-role": ["postgres"],
      redis: ["redis"],
      grafana: ["grafana-secret"],
      proxy: [],
      "proxy-https": [],
      prometheus: [],
      ollama: [],
    });
    for (const [name, { volumes = [] }] of all)
      if (name !== "secrets") expect(volumes.filter((v) => v.includes("secret") && !v.endsWith(":ro"))).toEqual([]);
  });

  test("gives the database a separate superuser, and Redis a password that does not appear in arguments", () => {
    expect(services.postgres?.environment).toMatchObject({
      POSTGRES_USER: "postgres",
      POSTGRES_PASSWORD_FILE: "/secrets-of-postgres/postgres-superuser-password",
    });
    expect(services.redis?.command?.join(" ")).toMatch(/ - <<END\nrequirepass \$\$\(cat \S+\)\nEND/);
    expect(services.redis?.command?.join(" ")).not.toContain("--requirepass");
  });

  test("stores secrets in files, and not in the environment of running containers", () => {
    const secrets = Object.entries(SETTINGS).flatMap(([name, setting]) => ("isSecret" in setting ? [name] : []));
    const carriers = [...secrets, "POSTGRES_PASSWORD"];
    for (const app of [...apps, "migrate", "postgres"]) {
      const names = Object.keys(services[app]?.environment ?? {});
      expect(names.filter((name) => carriers.includes(name))).toEqual([]);
    }
  });

  test("passes on every setting of packages/runtime that is not fixed in containers", () => {
    const FIXED = ["NODE_ENV", "SVC_DATA_DIR", "SVC_API_PORT", "SVC_WIDGET_PORT", "SVC_TOOLS_PORT", "SVC_CONSOLE_PORT"];
    const OF_EACH_APP = ["OTEL_SERVICE_NAME"];
    const passed = new Set(
      [services.api, services.console, services.secrets].flatMap((service) => Object.keys(service?.environment ?? {})),
    );
    const left = Object.keys(SETTINGS).filter((name) => !passed.has(name) && !passed.has(`${name}_FILE`));
    expect(left.filter((name) => !FIXED.includes(name) && !OF_EACH_APP.includes(name))).toEqual([]);
  });

  test("reads exactly the variables from .env that .env.example explains", () => {
    const read = new Set(Array.from(text.matchAll(/\$\{([A-Z_]+):-/g), ([, name]) => name ?? ""));
    const example = readFileSync(repositoryPath(".env.example"), "utf8");
    const explained = new Set(Array.from(example.matchAll(/^# ?([A-Z][A-Z_]+)=/gm), ([, name]) => name ?? ""));
    expect([...explained].toSorted()).toEqual([...read].toSorted());
    // No variable is required: everything works without any.
    expect(text).not.toMatch(/\$\{[A-Z_]+:?\?/);
    expect(example).not.toMatch(/^[^#\n]/m);
  });
});

describe("the secrets of the containers", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-secrets-"));
  const copies = mkdtempSync(join(tmpdir(), "svc-secrets-of-"));
  const GROUPS = ["apps", "administration", "models", "console", "postgres", "redis", "grafana"];
  for (const group of GROUPS) mkdirSync(join(copies, group));
  afterAll(() => {
    for (const path of [folder, copies]) rmSync(path, { recursive: true });
  });
  const run = async (what: string, env: Record<string, string> = {}) => {
    const script = repositoryPath("infra/docker/secrets.sh");
    const paths = { SECRETS_DIR: folder, SECRETS_OF: `${copies}/`, PATH: process.env.PATH ?? "" };
    return (await promisify(execFile)("sh", [script, what], { env: { ...paths, ...env } })).stdout;
  };
  const read = (name: string) => readFileSync(join(folder, name), "utf8").trim();

  test("are created once, differ, are readable only by their owner, and do not change", async () => {
    const said = await run("make");
    const names = ["postgres-password", "postgres-superuser-password", "redis-password", "secret-key", "admin-key"];
    const made = [...names, "grafana-password"].map(read);
    expect(new Set(made).size).toBe(6);
    for (const secret of made) {
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      expect(said).not.toContain(secret);
    }
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
    await run("make");
    expect([...names, "grafana-password"].map(read)).toEqual(made);
    expect(new URL(read("redis-url")).password).toBe(read("redis-password"));
    expect(await run("show")).toContain(read("admin-key"));
    expect(await run("show")).not.toContain(read("secret-key"));
  });

  test("have the values of .env, and a password is encoded correctly in a URL", async () => {
    const password = "p@ss/w#rd %41 ü";
    await run("make", { POSTGRES_PASSWORD: password, SVC_LLM_API_KEY: "sk-1", REDIS_URL: "rediss://cache:6380" });
    expect(decodeURIComponent(new URL(read("database-url")).password)).toBe(password);
    expect(read("redis-url")).toBe("rediss://cache:6380");
    expect(read("llm-api-key")).toBe("sk-1");
    await run("make");
    // Created and given secrets persist; a key of an external service that is no longer given is removed.
    expect(read("postgres-password")).toBe(password);
    expect(readdirSync(folder)).not.toContain("llm-api-key");
    expect(readdirSync(join(copies, "models"))).toEqual([]);
  });

  test("are copied for each group of containers, readable only by their owner", async () => {
    await run("make", { SVC_LLM_API_KEY: "sk-1", SVC_OIDC_CLIENT_SECRET: "oidc" });
    const found = Object.fromEntries(GROUPS.map((group) => [group, readdirSync(join(copies, group)).toSorted()]));
    expect(found).toEqual({
      apps: ["database-url", "redis-url", "secret-key"],
      administration: ["admin-key"],
      models: ["llm-api-key"],
      console: ["oidc-client-secret"],
      postgres: ["postgres-password", "postgres-superuser-password"],
      redis: ["redis-password"],
      grafana: ["password"],
    });
    for (const group of GROUPS.filter((name) => name !== "grafana"))
      for (const name of readdirSync(join(copies, group))) {
        expect(readFileSync(join(copies, group, name), "utf8").trim()).toBe(read(name));
        expect(statSync(join(copies, group, name)).mode & 0o077).toBe(0);
      }
  });

  test("keep the previous encryption key when .env replaces it", async () => {
    const before = read("secret-key");
    const replaced = "another-key-of-thirty-two-characters";
    await run("make", { SVC_SECRET_KEY: replaced });
    await run("make", { SVC_SECRET_KEY: replaced });
    expect(read("secret-key")).toBe(replaced);
    const previous = (await run("previous-secret-keys")).trim().split("\n");
    expect(previous).toEqual([expect.stringMatching(new RegExp(`^secret-key\\.previous-\\S+  ${before}$`))]);
    await run("make", { SVC_SECRET_KEY: before });
    expect(read("secret-key")).toBe(before);
    expect((await run("previous-secret-keys")).trim().split("\n")).toHaveLength(2);
  });

  test("that cannot be written are reported, with a non-zero exit code", async () => {
    writeFileSync(join(folder, "no-folder"), "");
    const attempt = run("make", { SECRETS_DIR: join(folder, "no-folder") });
    await expect(attempt).rejects.toThrow(/cannot write/);
  });
});
