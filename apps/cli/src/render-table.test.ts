import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { renderFacts, renderTable } from "./render-table.ts";

describe("a table", () => {
  test("has aligned columns and no spaces at the ends of its lines", () => {
    const rows = [
      ["a.md", "12", "added"],
      ["handbook.md", "3", "unchanged"],
    ];
    expect(renderTable(["FILE", "CHUNKS", "RESULT"], rows, 80)).toBe(
      ["FILE         CHUNKS  RESULT", "a.md         12      added", "handbook.md  3       unchanged"].join("\n"),
    );
  });

  test("wraps its last column to the width of the terminal", () => {
    const lines = renderTable(["ID", "WHY"], [["1", "a long reason that does not fit into one line"]], 34).split("\n");
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(34);
  });

  test("is as wide with colours as without them", () => {
    const widest = (state: string) =>
      Math.max(
        ...renderTable(["STATE", "WHY"], [[state, "a long reason that does not fit into one line"]], 44)
          .split("\n")
          .map((line) => stripVTControlCharacters(line).length),
      );
    expect(widest("\u001b[31mdead\u001b[39m")).toBe(widest("dead"));
  });
});

describe("facts", () => {
  test("stand below each other, further lines of a value in its column", () => {
    expect(
      renderFacts(
        [
          ["Key", "abc\nkeep it"],
          ["Folder", "/data"],
        ],
        "  ",
      ),
    ).toBe(["  Key     abc", "          keep it", "  Folder  /data"].join("\n"));
  });
});
