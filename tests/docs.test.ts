import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "@jest/globals";
import { repositoryPath } from "@svc/testing";

const pages = execFileSync("git", ["ls-files", "--", "*.md"], { cwd: repositoryPath(""), encoding: "utf8" })
  .split("\n")
  .filter((path) => path !== "")
  .map((path) => ({ path, text: readFileSync(repositoryPath(path), "utf8") }));

/** The anchors of a page, as GitHub generates them. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

test("every link leads to an existing file and heading", () => {
  const broken = pages.flatMap(({ path, text }) =>
    [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => {
        if (/^(?:https?|mailto):/.test(target)) return false;
        const [file = "", anchor] = target.split("#");
        const linked = file === "" ? path : join(dirname(path), file);
        if (!existsSync(repositoryPath(linked))) return true;
        return anchor !== undefined && !anchorsOf(readFileSync(repositoryPath(linked), "utf8")).includes(anchor);
      })
      .map((target) => `${path}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test("every test file that a page names exists", () => {
  const named = pages.flatMap(({ text }) => [...text.matchAll(/\btests\/[\w./-]+\.ts\b/g)].map(([path]) => path));
  expect(named.length).toBeGreaterThan(50);
  expect([...new Set(named)].filter((path) => !existsSync(repositoryPath(path)))).toEqual([]);
});

test("every page that uses SVC_URL or SVC_KEY in a command sets both before that, and none contains the URL itself", () => {
  const wrong = pages
    // Sections of the guide are quoted individually as answers, so each contains the URL.
    .filter(({ path }) => !path.startsWith("docs/guide/"))
    .flatMap(({ path, text }) => {
      const commands = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, command = ""]) => command);
      const first = commands.findIndex((command) => /\$\{?SVC_(?:URL|KEY)\b/.test(command));
      const isSet = commands
        .slice(0, first + 1)
        .some((command) => /^export SVC_URL=.*\nexport SVC_KEY=/m.test(command));
      const spelt = commands.filter((command) => /^curl [^\n]*127\.0\.0\.1:31416/m.test(command));
      return [...(first >= 0 && !isSet ? [path] : []), ...spelt.map((command) => `${path}: ${command}`)];
    });
  expect(wrong).toEqual([]);
});

test("no page states a heading or a paragraph twice", () => {
  const repeated = pages.flatMap(({ path, text }) => {
    const parts = text.replaceAll(/^```[\s\S]*?^```$/gm, "").split(/\n{2,}/);
    const stated = parts.filter((part) => part.startsWith("## ") || part.length > 200);
    return stated.filter((part, at) => stated.indexOf(part) !== at).map((part) => `${path}: ${part.slice(0, 80)}`);
  });
  expect(repeated).toEqual([]);
});
