import { createHash } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { ENDPOINTS, ERRORS } from "@svc/contracts";
import { makeOpenapi } from "./make-openapi.ts";
import { renderDocs } from "./render-docs.ts";

const document = makeOpenapi("https://api.example.com");
const { html, policy } = renderDocs(document);
const all = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, found = ""]) => found);

describe("the page of the description", () => {
  test("loads nothing, runs nothing, and has the one style that its policy allows", () => {
    expect(html).not.toMatch(/<(?:script|link|img|iframe|object|form|base)\b|\son\w+=|\sstyle=|url\(|@import/i);
    const [style = "", ...others] = all(/<style>([\s\S]*?)<\/style>/g);
    expect(others).toEqual([]);
    const digest = createHash("sha256").update(style).digest("base64");
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      `style-src 'sha256-${digest}'`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
  });

  test("has every operation, error and schema at an address of its own, and leads to no other", () => {
    const ids = all(/\sid="([^"]+)"/g);
    expect(new Set(ids).size).toBe(ids.length);
    const wanted = [
      ...Object.keys(ENDPOINTS),
      ...Object.keys(ERRORS).map((code) => `error-${code}`),
      ...Object.keys(document.components.schemas).map((name) => `schema-${name}`),
    ];
    expect(wanted.filter((id) => !ids.includes(id))).toEqual([]);
    const links = all(/\shref="([^"]+)"/g);
    expect(links.filter((link) => !(link === "openapi.json" || ids.includes(link.replace(/^#/, ""))))).toEqual([]);
  });

  test("names the address at which this installation is reached", () => {
    expect(html).toContain("export SVC_URL=https://api.example.com\n");
    expect(html).not.toContain("31416");
  });

  test("can be read in its order and with the keyboard alone", () => {
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(html.indexOf('<a class="skip" href="#main">')).toBeLessThan(html.indexOf("<nav"));
    const levels = all(/<h([1-6])\b/g).map(Number);
    expect(levels[0]).toBe(1);
    expect(levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1)).toEqual([]);
    // What is wider than the page can be moved with the keyboard.
    expect(all(/<pre([^>]*)>/g).filter((attributes) => !attributes.includes('tabindex="0"'))).toEqual([]);
  });

  test("shows a text as it is, whatever is in it", () => {
    const hostile = `</style><script>alert("1")</script> & 'x' \`<b>\``;
    const [path, operations] = Object.entries(document.paths)[0] ?? ["", {}];
    const [method, operation] = Object.entries(operations)[0] ?? [""];
    if (operation === undefined) throw new Error("there is no operation");
    const page = renderDocs({
      ...document,
      info: { ...document.info, title: hostile },
      paths: { [path]: { [method]: { ...operation, summary: hostile, description: hostile } } },
    });
    expect(page.html).not.toMatch(/<script|<b>/);
    expect(page.html).toContain("&lt;script&gt;alert(&quot;1&quot;)");
  });

  test("shows each call as a shell takes it", () => {
    const calls = all(/<h4>Request<\/h4><pre tabindex="0">([\s\S]*?)<\/pre>/g);
    expect(calls).toHaveLength(Object.keys(ENDPOINTS).length);
    for (const call of calls) {
      expect(call).toMatch(/^curl /);
      // Outside of single quotes nothing but the two variables is filled in, and no address is a pattern.
      const plain = call.replaceAll(/&#39;.*?&#39;/gs, "");
      expect(plain.replaceAll(/\$SVC_(?:URL|KEY)\b/g, "")).not.toMatch(/[$`{}[\]]/);
    }
  });
});
