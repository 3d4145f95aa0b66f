import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createApp, listen } from "@svc/http";
import type { Listening } from "@svc/http";
import { createLog } from "@svc/log";
import { addDemoRoutes, demoOrigins, isDemoShown, renderDemo } from "./serve-client.ts";

const KEY = "widget-key-0123456789";
const log = createLog({ level: "silent", name: "test" });

async function serve(isLocal: boolean, key: string | null): Promise<Listening> {
  const readKey = () => Promise.resolve(key);
  const app = createApp(log, (routes) => addDemoRoutes(routes, { isLocal, readKey }));
  return listen(app, { host: "127.0.0.1", port: 0, setting: "SVC_WIDGET_PORT" });
}

describe("the demo page", () => {
  let server: Listening;
  beforeAll(async () => {
    server = await serve(true, KEY);
  });
  afterAll(() => server.close(1_000));

  test("has the tag of this installation, active and for copying", async () => {
    const base = `http://127.0.0.1:${server.port}`;
    const answer = await fetch(`${base}/`);
    expect(answer.status).toBe(200);
    const page = await answer.text();
    expect(page).toContain(
      `<template id="tag"><script async src="${base}/widget.js" data-svc-widget data-api-key="${KEY}"></script></template>`,
    );
    expect(page).toContain(
      `&lt;script async src=&quot;${base}/widget.js&quot; data-svc-widget data-api-key=&quot;${KEY}&quot;&gt;&lt;/script&gt;`,
    );
    expect(page).not.toContain("{{");
  });

  test("allows no inline script or style, no other site, and requires Trusted Types", async () => {
    const answer = await fetch(`http://127.0.0.1:${server.port}/`);
    const policy = answer.headers.get("content-security-policy");
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self';.*require-trusted-types-for 'script'; trusted-types 'none'$/,
    );
    expect(policy).not.toContain("unsafe");
    const page = await answer.text();
    expect(page).not.toMatch(/\son[a-z]+=|\sstyle=|<style/);
    for (const [, url] of page.matchAll(/(?:src|href)="([^"#]+)"/g)) expect(url).toMatch(/^(?:demo\/|http:\/\/127)/);
  });

  test.each(["demo.css", "demo.js", "icon.svg"])("has the file %s", async (name) => {
    const answer = await fetch(`http://127.0.0.1:${server.port}/demo/${name}`);
    expect(answer.status).toBe(200);
    expect((await answer.text()).length).toBeGreaterThan(100);
  });

  test.each(["index.html", "..%2fpackage.json", "%2e%2e/package.json"])("has no file %s", async (name) => {
    const answer = await fetch(`http://127.0.0.1:${server.port}/demo/${name}`);
    expect(answer.status).toBe(404);
  });
});

test("is 404 if it is not shown", async () => {
  const server = await serve(false, KEY);
  for (const path of ["/", "/demo/demo.css", "/demo/demo.js"]) {
    expect((await fetch(`http://127.0.0.1:${server.port}${path}`)).status).toBe(404);
  }
  await server.close(1_000);
});

test("without a key explains how to get one, and has no tag", () => {
  const page = renderDemo("<template>{{tag}}</template><code>{{snippet}}</code>", { apiKey: null, baseUrl: "" });
  expect(page).toMatch(/^<template><\/template><code>The widget has no key yet\./);
});

test("a key with markup is shown as text", () => {
  const page = renderDemo("{{tag}}{{snippet}}", { apiKey: `"><script>alert(1)</script>{{tag}}`, baseUrl: "" });
  expect(page).not.toContain("<script>alert");
});

test.each([
  { what: "loopback", config: {}, isShown: true },
  { what: "loopback by name", config: { bindHost: "localhost" }, isShown: true },
  { what: "every address", config: { bindHost: "0.0.0.0" }, isShown: false },
  { what: "a proxy before it", config: { trustProxy: ["127.0.0.1"] }, isShown: false },
  { what: "production", config: { isProduction: true }, isShown: false },
])("$what: shown is $isShown", ({ config, isShown }) => {
  const whole = { bindHost: undefined, trustProxy: [], isProduction: false, ...config };
  expect(isDemoShown(whole)).toBe(isShown);
  const ports = { api: 1, widget: 31415, tools: 2, console: 3, metrics: undefined };
  const own = ["http://127.0.0.1:31415", "http://localhost:31415", "http://[::1]:31415"];
  expect(demoOrigins({ ...whole, ports })).toEqual(isShown ? own : []);
});
