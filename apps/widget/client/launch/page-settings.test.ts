import { expect, test } from "@jest/globals";
import { isHidden } from "./page-settings.ts";

test("a launcher is hidden on the listed paths, on those below one with a star, and nowhere else", () => {
  const hidden = ["/checkout", "/account/*"];
  for (const path of ["/checkout", "/checkout/", "/account/", "/account/orders/7"]) {
    expect([path, isHidden(path, hidden)]).toEqual([path, true]);
  }
  for (const path of ["/", "/checkout/done", "/checkouts", "/account", "/en/checkout"]) {
    expect([path, isHidden(path, hidden)]).toEqual([path, false]);
  }
  expect(isHidden("/anything", ["/*"])).toBe(true);
  expect(isHidden("/", [])).toBe(false);
});
