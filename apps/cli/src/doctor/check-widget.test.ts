import { describe, expect, test } from "@jest/globals";
import { widgetSettingsSchema } from "@svc/contracts";
import { judgeSettings } from "./check-widget.ts";

const settings = (given: object) => widgetSettingsSchema.parse({ apiKey: "widget-key-0123456789", ...given });

describe("the widget's settings", () => {
  test("without a key no page can use it, which is a fault with what to do", () => {
    expect(judgeSettings(settings({ apiKey: null }), true, "svc")).toEqual([
      expect.objectContaining({ status: "fail", advice: expect.stringContaining("svc channels enable widget") }),
    ]);
  });

  test("without a list of sites any may load it, which is warned about", () => {
    expect(judgeSettings(settings({}), true, "svc")).toEqual([
      expect.objectContaining({ name: "Widget sites", status: "warn", detail: "any site can load the widget" }),
    ]);
  });

  test("with sites it names them", () => {
    const found = judgeSettings(
      settings({ allowedOrigins: ["https://a.example", "https://*.b.example"] }),
      true,
      "svc",
    );
    expect(found).toEqual([{ name: "Widget sites", status: "ok", detail: "https://a.example, https://*.b.example" }]);
  });

  test("a project that does not exist is a fault", () => {
    expect(judgeSettings(settings({ project: "gone" }), false, "svc")[0]).toMatchObject({
      status: "fail",
      detail: expect.stringContaining("the project gone does not exist"),
    });
  });
});
