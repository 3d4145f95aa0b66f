import { expect, test } from "@jest/globals";
import { fillExample } from "./fill-example.ts";

const examples = { "ticket.subject": "Parcel *42*", "operator.name": "Ann" };

test("a canned reply is shown with examples, inserted literally", () => {
  const text = "About {{ ticket.subject }}: **{{operator.name}}** {{operator.name}}";
  expect(fillExample(text, examples)).toEqual({ text: "About Parcel \\*42\\*: **Ann** Ann", unknown: [] });
});

test("unknown variables are unchanged and listed once", () => {
  const { text, unknown } = fillExample("{{name}} {{ name }} {{toString}} {{}} {x} {{a{b}}", examples);
  expect(text).toBe("{{name}} {{ name }} {{toString}} {{}} {x} {{a{b}}");
  expect(unknown).toEqual(["name", "toString", ""]);
});
