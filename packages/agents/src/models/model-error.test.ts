import { describe, expect, test } from "@jest/globals";
import { explainStatus } from "./model-error.ts";

const explain = (status: number, body: string, headers: Record<string, string> = {}) =>
  explainStatus({ status, headers: new Headers(headers) }, body, "sk-planted");

describe("what providers answer", () => {
  test.each([
    [404, '{"error":{"message":"model \\"llama9\\" not found, try pulling it first"}}', "unknown_model"],
    [400, '{"error":{"message":"foo/bar is not a valid model ID"}}', "unknown_model"],
    [400, '{"error":{"message":"The model `gpt-9` does not exist or you do not have access to it."}}', "unknown_model"],
    [400, '{"error":{"message":"This model\'s maximum context length is 8192 tokens."}}', "too_long"],
    [
      400,
      '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens"}}',
      "too_long",
    ],
    [
      500,
      '{"error":{"code":500,"message":"input is too large to process. increase the physical batch size"}}',
      "too_long",
    ],
    [
      400,
      '{"error":{"code":"content_filter","message":"triggering Azure OpenAI\'s content management policy"}}',
      "refused",
    ],
    [402, '{"error":{"message":"Insufficient credits"}}', "unauthorized"],
    [413, "", "too_long"],
    [422, '{"detail":[]}', "refused"],
    [502, "<html>Bad Gateway</html>", "provider_fault"],
    [503, '{"error":{"message":"Loading model"}}', "provider_fault"],
    [529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "provider_fault"],
  ])("%i %j is %s", (status, body, error) => {
    expect(explain(status, body).error.fault).toBe(error);
  });

  test("is told in short, in one line and without the key, and of a refused key not at all", () => {
    const body = JSON.stringify({ message: `sk-planted ${"x\n".repeat(10_000)}` });
    const { message } = explain(500, body).error;
    expect(message).toMatch(/^the provider returned 500: \[key\] x[^\n]{1,120}$/);
    expect(explain(401, '{"message":"Incorrect API key: sk-pl*****ed"}').error.message).toBe(
      "the provider rejected the API key (401)",
    );
  });
});

describe("another try", () => {
  test.each([
    [429, {}, "{}", true, null],
    [429, { "Retry-After": "2" }, "{}", true, 2_000],
    [429, { "Retry-After": "nonsense" }, "{}", true, null],
    [429, { "Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT" }, "{}", true, 0],
    [429, {}, '{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}', false, null],
    [503, { "Retry-After": "0.5" }, "", true, 500],
    [408, {}, "", true, null],
    [400, {}, "", false, null],
    [401, { "Retry-After": "2" }, "", false, null],
    [307, { Location: "http://127.0.0.1/" }, "", false, null],
  ])("after %i %j %s may help: %s, after %s ms", (status, headers, body, canRetry, retryAfterMs) => {
    expect(explain(status, body, headers)).toMatchObject({ canRetry, retryAfterMs });
  });
});
