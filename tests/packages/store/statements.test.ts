import { readFile, readdir, writeFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import { listStatements } from "@svc/store";
import { createTestDatabase, repositoryPath } from "@svc/testing";
import { describeStatements, findPlannedAgain } from "./describe-statements.ts";

const TYPES = repositoryPath("packages/store/src/statement-types.ts");
const FOLDER = repositoryPath("packages/store/sql");

test("every statement can be prepared, and its parameters and columns have the types that the program uses; UPDATE_STATEMENTS=1 writes them", async () => {
  const database = await createTestDatabase();
  try {
    const types = await describeStatements(database.url, listStatements());
    if (process.env["UPDATE_STATEMENTS"] === "1") await writeFile(TYPES, types);
    expect(await readFile(TYPES, "utf8")).toBe(types);
  } finally {
    await database.drop();
  }
});

test("PostgreSQL keeps a plan of every prepared statement", async () => {
  const database = await createTestDatabase();
  try {
    const prepared = listStatements().filter(({ isPrepared }) => isPrepared);
    expect(prepared.length).toBeGreaterThan(20);
    expect(await findPlannedAgain(database.url, prepared)).toEqual([]);
  } finally {
    await database.drop();
  }
});

test("every statement is loaded, and documents its purpose and, if it writes or locks rows, its locks", async () => {
  const files = (await readdir(FOLDER, { recursive: true })).filter((path) => path.endsWith(".sql"));
  const described: string[] = [];
  const silent: string[] = [];
  for (const path of files) {
    const source = await readFile(`${FOLDER}/${path}`, "utf8");
    const headers = source.matchAll(/^-- name: (\w+)(?: \(prepared\))?\n((?:--.*\n)*)((?:(?!-- ).*\n?)*)/gm);
    for (const [, statement = "", comment = "", text = ""] of headers) {
      const name = `${path.replace(/\.sql$/, "")}.${statement}`;
      described.push(name);
      const locks = /^\s*(?:INSERT INTO|UPDATE|DELETE FROM)\b|\bFOR (?:NO KEY )?(?:UPDATE|SHARE)|FOR KEY SHARE/m.test(
        text,
      );
      if (comment.trim() === "" || (locks && !/lock/i.test(comment))) silent.push(name);
    }
  }
  expect(silent).toEqual([]);
  expect(described.sort()).toEqual(
    listStatements()
      .map(({ name }) => name)
      .sort(),
  );
});
