import { expect, test } from "@jest/globals";
import { WIDGET_LIMITS } from "@svc/contracts";
import { LIMITS } from "./state.ts";

test("the browser's limits match the server's", () => {
  expect(WIDGET_LIMITS).toMatchObject(LIMITS);
});
