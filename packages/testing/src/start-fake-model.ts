import type { ChatCompletionRequest, Fixture, FixtureResponse, LLMock } from "@copilotkit/aimock";
import { holdResource } from "./held-resources.ts";

/** What a model was asked, whichever API it was asked by: in the shape of OpenAI's chat completions. */
export type ModelRequest = ChatCompletionRequest;

/** What a fake model answers: an object is its JSON output, a text its text; or a response of the mock as it is. */
export type ModelScript = (request: ModelRequest) => object | string | FixtureResponse | Promise<object | string>;

/** How a fake model's answers go out: slowly, in small pieces, cut off. */
export type ModelManners = Pick<
  Fixture,
  "latency" | "chunkSize" | "truncateAfterChunks" | "disconnectAfterMs" | "streamingProfile"
>;

/** A server with language models, as OpenAI, Anthropic and Ollama run one. */
export interface FakeModel {
  /** For `SVC_LLM_BASE_URL`, as in http://127.0.0.1:20123/v1; Anthropic's API is at the same place. */
  readonly baseUrl: string;
  /** The mock itself, for what this does not offer. */
  readonly mock: LLMock;
  /** What was asked so far, oldest first. */
  requests(): ModelRequest[];
  /** Answers every further request so. */
  answerWith(script: ModelScript, manners?: ModelManners): void;
  /** Fails the next request with this status. */
  failNext(status: number, message?: string): void;
  /** Frees the port. Safe to call twice. */
  close(): Promise<void>;
}

const RESPONSE_FIELDS = ["content", "toolCalls", "error", "blocks"];

/** What the mock understands, of what a script says. */
function responseOf(said: object | string): FixtureResponse {
  if (typeof said === "string") return { content: said };
  const isResponse = RESPONSE_FIELDS.some((field) => field in said);
  return isResponse ? said : { content: JSON.stringify(said) };
}

/**
 * Starts a fake of model servers on a port of 127.0.0.1 that speaks their real protocols. Until `answerWith` it answers
 * every request with an error. A test file that does not close it fails.
 */
export async function startFakeModel(script?: ModelScript, manners: ModelManners = {}): Promise<FakeModel> {
  // It takes a tenth of a second to load, which only a test with a model has to spend.
  const { LLMock: Server } = await import("@copilotkit/aimock");
  const mock = new Server({ port: 0, host: "127.0.0.1", logLevel: "silent" });
  await mock.start();
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    letGo();
    await mock.stop();
  };
  const letGo = holdResource(`a fake model at ${mock.url}`, close);

  function answerWith(chosen: ModelScript, withManners: ModelManners = {}): void {
    mock.clearFixtures();
    mock.addFixture({
      match: { predicate: () => true },
      response: async (request) => responseOf(await chosen(request)),
      ...withManners,
    });
  }

  if (script !== undefined) answerWith(script, manners);
  return {
    baseUrl: `${mock.url}/v1`,
    mock,
    requests: () => mock.getRequests().flatMap(({ body }) => (body === null ? [] : [body as ModelRequest])),
    answerWith,
    failNext(status, message = "the provider is unwell") {
      mock.nextRequestError(status, { message });
    },
    close,
  };
}
