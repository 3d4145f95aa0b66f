import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import { listStatements } from "@svc/store";
import { createTestDatabase, repositoryPath } from "@svc/testing";
import { describeStatements } from "./describe-statements.ts";

const TYPES = repositoryPath("packages/store/src/statement-types.ts");

test("every statement can be prepared, and its parameters and columns have the types that the program uses", async () => {
  const database = await createTestDatabase();
  try {
    const types = await describeStatements(database.url, listStatements());
    if (process.env["UPDATE_STATEMENTS"] === "1") await writeFile(TYPES, types);
    expect(await readFile(TYPES, "utf8")).toBe(types);
  } finally {
    await database.drop();
  }
});
