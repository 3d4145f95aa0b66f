import { expect, test } from "@jest/globals";
import { judgeAbsence } from "./judge-absence.ts";

const look = { name: "Console", app: "console", where: "at http://127.0.0.1:1" };

test("an app that does not answer here is warned of, unless it runs in a container of its own", () => {
  expect(judgeAbsence(look, new Map([["api", 1]]), { startWith: "npm start" })).toEqual({
    name: "Console",
    status: "warn",
    detail: "does not run at http://127.0.0.1:1",
    advice: "Start it with: npm start",
  });
  expect(judgeAbsence(look, new Map([["console", 2]]), { startWith: "npm start" })).toEqual({
    name: "Console",
    status: "ok",
    detail: "runs elsewhere, in 2 processes; not at http://127.0.0.1:1",
  });
});
