import { describe, expect, test } from "@jest/globals";
import { curlCall, readAddress, TOOL_CLIENTS, toolSnippet, widgetTag } from "./snippets.ts";

describe("the entered URL of a part", () => {
  test.each([
    ["https://chat.example.com/", "https://chat.example.com"],
    [" http://127.0.0.1:31415 ", "http://127.0.0.1:31415"],
    ["https://www.example.com/chat", "https://www.example.com/chat"],
  ])("%s is valid", (text, address) => expect(readAddress(text)).toBe(address));

  test.each([
    "",
    "chat.example.com",
    "javascript:alert(1)",
    "https://",
    "https://a b",
    `https://x'; rm -rf ~`,
    "https://x$(id)",
    'https://x"onload="alert(1)',
    "https://user:password@example.com",
    "https://example.com?key=1",
  ])("%s is invalid", (text) => expect(readAddress(text)).toBeNull());
});

const URL = "http://127.0.0.1:31417";

describe("snippets", () => {
  test("quote a key with special characters", () => {
    expect(widgetTag("https://chat.example", `a"><script>`)).toBe(
      `<script async src="https://chat.example/widget.js" data-svc-widget data-api-key="a&quot;&gt;&lt;script&gt;"></script>`,
    );
    expect(curlCall(URL, "it's", "Wie geht's?")).toContain(`'X-Api-Key: it'\\''s'`);
  });

  test.each(TOOL_CLIENTS)("contain the tool server's URL and the key for %s", (client) => {
    const snippet = toolSnippet(client, URL, "svc_key");
    expect(snippet).toContain(`${URL}/mcp`);
    // VS Code asks for it, and stores it encrypted.
    if (client !== "vscode") expect(snippet).toContain("svc_key");
  });

  test.each(["claude-desktop", "vscode", "cursor", "zed", "obsidian"] as const)("are JSON for %s", (client) => {
    expect(() => JSON.parse(toolSnippet(client, URL, 'svc_"quoted"'))).not.toThrow();
  });
});
