import { expect, test } from "@jest/globals";
import { createMappingCache } from "./create-mapping-cache.ts";

const read = (cache: ReturnType<typeof createMappingCache>, id: string, version = 1) =>
  cache.readerOf({ id, version })({ text: "{{$.a}}" }, []);

test("a version of a hook is read once, another version anew, and those used last are kept", () => {
  const cache = createMappingCache();
  const first = read(cache, "a");
  expect(read(cache, "a")).toBe(first);
  const second = read(cache, "a", 2);
  expect(second).not.toBe(first);
  for (let hook = 0; hook < 199; hook++) read(cache, `other ${hook}`);
  expect(read(cache, "a", 2)).toBe(second);
  read(cache, "one more");
  expect(read(cache, "a", 2)).toBe(second);
  for (let hook = 0; hook < 200; hook++) read(cache, `another ${hook}`);
  expect(read(cache, "a", 2)).not.toBe(second);
});
