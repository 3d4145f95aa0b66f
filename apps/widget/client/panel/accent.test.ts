import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { accentColors, contrastOf } from "./accent.ts";

/** The panel's background colors, as in panel.css. */
const LIGHT = ["#ffffff", "#eef1f4"];
const DARK = ["#15181d", "#2b3038"];

const colors = fc.integer({ min: 0, max: 0xff_ff_ff }).map((number) => `#${number.toString(16).padStart(6, "0")}`);

describe("the colors of an accent", () => {
  test("contrast is measured as WCAG defines it", () => {
    expect(contrastOf("#000000", "#ffffff")).toBeCloseTo(21, 5);
    expect(contrastOf("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
    expect(contrastOf("#3366ff", "#3366ff")).toBe(1);
  });

  test("text on any accent has a contrast of 4.5", () => {
    fc.assert(
      fc.property(colors, (color) => contrastOf(accentColors(color).onAccent, accentColors(color).accent) >= 4.5),
      { numRuns: 5_000 },
    );
  });

  test("links, icons and focus rings of any accent have a contrast of 4.5 on each background of both themes", () => {
    fc.assert(
      fc.property(colors, (color) => {
        const { inLight, inDark } = accentColors(color);
        return (
          LIGHT.every((ground) => contrastOf(inLight, ground) >= 4.5) &&
          DARK.every((ground) => contrastOf(inDark, ground) >= 4.5)
        );
      }),
      { numRuns: 5_000 },
    );
  });

  test.each(["#ffffff", "#000000", "#ffff00", "#3366ff", "#767676", "#808080", "#ff0000", "#00ff00"])(
    "%s stays the background of buttons",
    (color) => {
      expect(accentColors(color).accent).toBe(color);
    },
  );

  test("a readable accent is used unchanged", () => {
    expect(accentColors("#0b4fd6").inLight).toBe("#0b4fd6");
    expect(accentColors("#9ecbff").inDark).toBe("#9ecbff");
  });

  test.each(["red", "#fff", "#12345g", "", "#3366ff;}*{"])("%j is not an accent", (color) => {
    expect(accentColors(color).accent).toBe("#3366ff");
  });
});
