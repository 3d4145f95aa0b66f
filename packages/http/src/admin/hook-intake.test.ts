import { describe, expect, test } from "@jest/globals";
import { HOOK_LIMITS, ServiceError } from "@svc/contracts";
import { eventIdsOf, readHookBody } from "./hook-intake.ts";

const content = Buffer.from('{"a":1}');

test("Standard Webhooks: the signed webhook-id is the event id unless the mapping names another", () => {
  const hook = { auth: { type: "standard-webhooks" } } as const;
  const body = { headers: { "webhook-id": "msg_1" }, content };
  expect(eventIdsOf(hook, body, null)).toEqual(["msg_1"]);
  expect(eventIdsOf(hook, body, "mapped")).toEqual(["mapped"]);
  const long = eventIdsOf(hook, { ...body, headers: { "webhook-id": "x".repeat(1_000) } }, null);
  expect(long).toEqual([expect.stringMatching(/^webhook-id [0-9a-f]{64}$/)]);
});

test("GitHub: the signed body is an id too, since the id of the delivery is not signed", () => {
  const hook = { auth: { type: "github" } } as const;
  const [first, again] = ["id-1", "id-2"].map((id) => eventIdsOf(hook, { headers: {}, content }, id));
  expect(first).toEqual([expect.stringMatching(/^body [0-9a-f]{64}$/), "id-1"]);
  expect(again?.[0]).toBe(first?.[0]);
  expect(eventIdsOf(hook, { headers: {}, content: Buffer.from("{}") }, "id-1")[0]).not.toBe(first?.[0]);
});

test("other schemes: what the mapping names, or nothing", () => {
  const hook = { auth: { type: "shopify" } } as const;
  expect(eventIdsOf(hook, { headers: { "webhook-id": "a" }, content }, null)).toEqual([]);
  expect(eventIdsOf(hook, { headers: {}, content }, "b")).toEqual(["b"]);
});

const FORM = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data; boundary=x";
const read = (type: string, text: string) => readHookBody(type, Buffer.from(text));
/** Returns the error code with which a body is rejected. */
async function codeOf(type: string, text: string): Promise<string> {
  try {
    await read(type, text);
    return "none";
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}
const part = (name: string, value: string, more = "") =>
  `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;

describe("forms", () => {
  test("a name that comes once has a text, one that comes again a list, in the order of the form", async () => {
    expect(await read(FORM, "a=1&b=x+y%26z&a=&a=%F0%9F%98%80&c")).toEqual({ a: ["1", "", "😀"], b: "x y&z", c: "" });
    expect(await read(MULTIPART, `${part("a", "1")}${part("b", "x\r\ny")}${part("a", "2")}--x--`)).toEqual({
      a: ["1", "2"],
      b: "x\r\ny",
    });
  });

  test("names are data, whatever they mean to the language", async () => {
    const form = await read(FORM, "__proto__=a&constructor=b&a[0]=c&a.b=d");
    expect(Object.entries(form as object)).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
      ["a[0]", "c"],
      ["a.b", "d"],
    ]);
  });

  test("files are left out", async () => {
    const file = part("file", "%PDF", '; filename="a.pdf"\r\nContent-Type: application/pdf');
    expect(await read(MULTIPART, `${file}${part("a", "1")}--x--`)).toEqual({ a: "1" });
  });

  test("JSON in the only field payload is taken as JSON, in no other case", async () => {
    expect(await read(FORM, `payload=${encodeURIComponent('{"a":1}')}`)).toEqual({ a: 1 });
    expect(await read(FORM, "payload=hello")).toEqual({ payload: "hello" });
    expect(await read(FORM, "payload={}&b=1")).toEqual({ payload: "{}", b: "1" });
    expect(await codeOf(FORM, "payload={")).toBe("invalid_json");
  });

  test("too many fields, a cut form and what is none are refused", async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `f${index}=1`).join("&");
    expect(await codeOf(FORM, many(HOOK_LIMITS.formFieldsMaxCount))).toBe("none");
    expect(await codeOf(FORM, many(HOOK_LIMITS.formFieldsMaxCount + 1))).toBe("invalid_request");
    const parts = Array.from({ length: HOOK_LIMITS.formFieldsMaxCount + 1 }, () => part("a", "1")).join("");
    expect(await codeOf(MULTIPART, `${parts}--x--`)).toBe("invalid_request");
    for (const text of [part("a", "1"), "", "a=1"]) expect(await codeOf(MULTIPART, text)).toBe("invalid_request");
    expect(await codeOf("multipart/form-data", `${part("a", "1")}--x--`)).toBe("invalid_request");
  });
});

test("JSON may be of any type of its family, in UTF-8, and nests at most 100 levels", async () => {
  expect(await read("application/json", '[1,"ü"]')).toEqual([1, "ü"]);
  expect(await read("Application/CloudEvents+JSON; charset=UTF-8", "null")).toBeNull();
  for (const type of ["", "text/plain", "application/jsonp", "application/xml", "application/json; charset=latin1"]) {
    expect(await codeOf(type, "{}")).toBe("unsupported_media_type");
  }
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  expect(await codeOf("application/json", nested(HOOK_LIMITS.bodyMaxDepth))).toBe("none");
  expect(await codeOf("application/json", nested(HOOK_LIMITS.bodyMaxDepth + 1))).toBe("invalid_request");
  expect(await codeOf("application/json", nested(400_000))).toBe("invalid_request");
});

test.each([
  "x--x--",
  "--x--",
  "--x\r\n--x--",
  "--x\r\nContent-Disposition: form-data\r\n\r\na--x--",
  "\r\n--x--\r\n--x\r\n",
])("a body that only looks like a form comes to an end: %j", async (text) => {
  expect(["none", "invalid_request"]).toContain(await codeOf(MULTIPART, text));
});
