import type { ChatCompletionRequest, Fixture, FixtureResponse, LLMock } from "@copilotkit/aimock";
import { holdResource } from "./held-resources.ts";

/** A request to a model of any API, in the format of OpenAI's chat completions. */
export type ModelRequest = ChatCompletionRequest;

/** Response of a fake model: an object is its JSON output, a string its text; or a response of the mock. */
export type ModelScript = (request: ModelRequest) => object | string | FixtureResponse | Promise<object | string>;

/** Transmission of a fake model's responses: slow, in small pieces, interrupted. */
export type TransmissionOptions = Pick<
  Fixture,
  "latency" | "chunkSize" | "truncateAfterChunks" | "disconnectAfterMs" | "streamingProfile"
>;

/** A server with language models, like those of OpenAI, Anthropic and Ollama. */
export interface FakeModel {
  /** For `SVC_LLM_BASE_URL`, such as http://127.0.0.1:20123/v1; Anthropic's API has the same base URL. */
  readonly baseUrl: string;
  /** The mock itself, for further features. */
  readonly mock: LLMock;
  /** Returns the requests so far, oldest first. */
  requests(): ModelRequest[];
  /** Sets the response to all later requests. */
  answerWith(script: ModelScript, transmission?: TransmissionOptions): void;
  /** Fails the next request with this status. */
  failNext(status: number, message?: string): void;
  /** Frees the port. Idempotent. */
  close(): Promise<void>;
}

const RESPONSE_FIELDS = ["content", "toolCalls", "error", "blocks"];

/** Converts a script's response to the mock's format. */
function responseOf(said: object | string): FixtureResponse {
  if (typeof said === "string") return { content: said };
  const isResponse = RESPONSE_FIELDS.some((field) => field in said);
  return isResponse ? said : { content: JSON.stringify(said) };
}

/**
 * Starts a fake of model servers on a port of 127.0.0.1 that implements their real protocols. Until `answerWith` is
 * called, every response is an error. A test file that does not close it fails.
 */
export async function startFakeModel(script?: ModelScript, transmission: TransmissionOptions = {}): Promise<FakeModel> {
  // Loading it takes a tenth of a second, so only tests with a model do.
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

  function answerWith(chosen: ModelScript, withManners: TransmissionOptions = {}): void {
    mock.clearFixtures();
    mock.addFixture({
      match: { predicate: () => true },
      response: async (request) => responseOf(await chosen(request)),
      ...withManners,
    });
  }

  if (script !== undefined) answerWith(script, transmission);
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
