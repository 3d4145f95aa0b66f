import { describe, expect, test } from "@jest/globals";
import { fillUrl } from "./fill-url.ts";

const ORDER = "https://api.example.com/shops/{shop}/orders/{id}?fields={fields}&lang=en";

describe("arguments in an address", () => {
  test("are percent-encoded, and what is not named there is left for the body", () => {
    expect(fillUrl(ORDER, { shop: "a b", id: 7, fields: "x&y=1#z", note: "n" })).toEqual({
      url: "https://api.example.com/shops/a%20b/orders/7?fields=x%26y%3D1%23z&lang=en",
      rest: { note: "n" },
    });
  });

  test("that are not given take their parameter of the query with them", () => {
    expect(fillUrl(ORDER, { shop: "a", id: 7 })).toEqual({
      url: "https://api.example.com/shops/a/orders/7?lang=en",
      rest: {},
    });
  });

  test.each([
    ["..", "leads upwards"],
    [".", "leads nowhere"],
    ["@evil.example", "looks like a host"],
    ["?a=1#b", "looks like a query"],
    ["\u2025", "looks like dots"],
  ])("never change more than their own part of the path: %s %s", (id) => {
    const filled = fillUrl("https://api.example.com/orders/{id}/items", { id });
    if ("fault" in filled) return;
    const { origin, pathname, search, hash } = new URL(filled.url);
    expect([origin, search, hash]).toEqual(["https://api.example.com", "", ""]);
    expect(pathname.split("/")).toEqual(["", "orders", encodeURIComponent(id), "items"]);
  });

  test.each(["../../admin", "a/b", "..%2F..%2Fadmin", "%2e%2e", "%252e%252e%252f", "a\\b", "a\uFF0Fb"])(
    "that could leave their part of the path at a server that decodes it are a fault: %s",
    (id) => {
      expect(fillUrl("https://api.example.com/orders/{id}/items", { id })).toHaveProperty("fault");
      expect(fillUrl("https://api.example.com/orders?path={id}", { id })).toHaveProperty("url");
    },
  );

  test.each<unknown>(["", undefined, null, {}, ["a"], "..", "."])("that the path cannot have are a fault: %p", (id) => {
    expect(fillUrl("https://api.example.com/orders/{id}", { id })).toHaveProperty("fault");
  });
});
