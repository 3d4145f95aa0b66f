import { expect, test } from "@jest/globals";
import { judgeAbsence } from "./judge-absence.ts";

const look = { name: "Console", app: "console", where: "at http://127.0.0.1:1" };

/** What is said while so many processes of an app run, and so many of them elsewhere. */
const judge = (app: string, count: number, elsewhere: number) =>
  judgeAbsence(look, new Map([[app, { count, elsewhere }]]), { startWith: "npm start" });

test("an app that does not answer here is warned of, unless it runs in a container of its own", () => {
  for (const absence of [judge("api", 1, 1), judge("console", 1, 0)]) {
    expect(absence).toEqual({
      name: "Console",
      status: "warn",
      detail: "does not run at http://127.0.0.1:1",
      advice: "Start it with: npm start",
    });
  }
  expect(judge("console", 3, 2)).toEqual({
    name: "Console",
    status: "ok",
    detail: "runs elsewhere, in 2 processes; not at http://127.0.0.1:1",
  });
});
