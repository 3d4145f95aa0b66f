/** How providers are asked: how long is waited for what, how often, and how much is taken. */
export interface CallManners {
  /** For the first byte of an answer, thinking included. The time for everything may end it before. */
  firstByteMs: number;
  /** Between two pieces of an answer. */
  silenceMs: number;
  /** Tries of one request in all, the first one included. */
  maxTries: number;
  /** Before the second try, about; twice that before the third. */
  firstRetryMs: number;
  /** Of one answer, as it is read. */
  maxAnswerBytes: number;
  /** Of one answer, where the request does not say. */
  maxOutputTokens: number;
  /** How long a call waits for its turn where its project has too many on their way. */
  turnMs: number;
  /** How long a provider is left alone after `maxFailures` failures in a row. */
  restMs: number;
  maxFailures: number;
}

/**
 * A local server may load its model before the first byte; a hosted one needs some seconds at most. 4,096 tokens are about
 * three pages of text and, with what is sent around each token, about 1.5 MB.
 */
export const DEFAULT_MANNERS: CallManners = {
  firstByteMs: 60_000,
  silenceMs: 15_000,
  maxTries: 3,
  firstRetryMs: 300,
  maxAnswerBytes: 4_000_000,
  maxOutputTokens: 4_096,
  turnMs: 2_000,
  restMs: 15_000,
  maxFailures: 3,
};
