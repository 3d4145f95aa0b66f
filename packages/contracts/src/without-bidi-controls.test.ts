import { expect, test } from "@jest/globals";
import { hookInputSchema } from "./hook.ts";
import { kbInputSchema } from "./kb.ts";
import { lineUpTo, withoutBidiControls } from "./limits.ts";
import { visitorMessageSchema } from "./widget.ts";

const OVERRIDE = "\u202efdp.exe\u202c";

test("names and titles lose controls of direction, and right-to-left text stays", () => {
  expect(withoutBidiControls(`${OVERRIDE} שלום\u200f`)).toBe("fdp.exe שלום\u200f");
  expect(lineUpTo(10).parse(OVERRIDE)).toBe("fdp.exe");
  expect(lineUpTo(10).safeParse("\u202e\u2066").success).toBe(false);
  expect(kbInputSchema.parse({ name: OVERRIDE })).toEqual({ name: "fdp.exe" });
  expect(hookInputSchema.shape.name.parse(OVERRIDE)).toBe("fdp.exe");
  const message = { text: OVERRIDE, clientMessageId: "1", contact: { name: OVERRIDE } };
  expect(visitorMessageSchema.parse(message)).toMatchObject({ text: OVERRIDE, contact: { name: "fdp.exe" } });
});
