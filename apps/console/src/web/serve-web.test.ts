import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { PAGE_PATHS, isPagePath } from "./serve-web.ts";

/** Returns the paths of all routes in the source of the pages' router, each appended to that of its parent. */
function routesOf(source: string): string[] {
  // Options that several pages share, such as `PAGE`, name the route of the project as their parent.
  const found = source.matchAll(
    /(?:const (\w+) = )?createRoute\(\{\s*(?:getParentRoute: \(\) => (\w+)|\.\.\.[A-Z]+),\s*(?:id: "\w+"|path: "([^"]+)")/g,
  );
  const paths = new Map([["rootRoute", ""]]);
  const routes = [...found];
  // A route that is written in another way would be missed.
  expect(routes).toHaveLength(source.match(/createRoute\(\{/g)?.length ?? 0);
  for (const [whole, name = whole, parent = "projectRoute", path = "/"] of routes) {
    const base = paths.get(parent) ?? "?";
    paths.set(name, path === "/" ? base : `${base}/${path.replace(/^\//, "")}`);
  }
  paths.delete("rootRoute");
  return [...new Set([...paths.values()].map((path) => (path === "" ? "/" : path)))].toSorted();
}

describe("the paths of pages", () => {
  test("are those of the pages' router", () => {
    const source = readFileSync(new URL("../../web/src/app/router.tsx", import.meta.url), "utf8");
    expect(routesOf(source)).toEqual([...PAGE_PATHS].toSorted());
  });

  test("differ from unknown paths", () => {
    for (const path of [
      "/",
      "/sign-in",
      "/north/inbox",
      "/north/customers/some-id",
      "/north/inbox/all/some-id",
      "/north/knowledge/gaps/",
    ]) {
      expect({ path, is: isPagePath(path, false) }).toEqual({ path, is: true });
    }
    for (const path of [
      "/metrics",
      "/north/admin",
      "/North/inbox/all",
      "/north/inbox/a/b/c",
      "/a/b/c/d/e",
      "/sign-in/x",
    ]) {
      expect({ path, is: isPagePath(path, false) }).toEqual({ path, is: false });
    }
    expect(isPagePath("/north", true)).toBe(true);
  });
});
