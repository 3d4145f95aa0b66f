/** Stops what `start` has started. Resolves when everything is stopped; safe to call twice. */
export type Stop = () => Promise<void>;

/** The service that an app exports. It runs alone or with others in one process. */
export interface Service {
  readonly name: string;
  /** Resolves when the service is ready. */
  start(): Promise<RunningService>;
}

/** A running service. */
export interface RunningService {
  stop: Stop;
  /** Returns why the service is not ready, in words, or null if it is ready. */
  findFault?(): Promise<string | null>;
  /** Called first during shutdown, before any `stop`: from now on the service reports that it is not ready. */
  drain?(): void;
  /** URLs to show to people, by name. */
  urls?: Record<string, string>;
  /** Addresses that could not be opened at startup, by name, each with a sentence that says why and what to do. */
  problems?: Record<string, string>;
}
