/** Ends what `start` began. Resolves when nothing of it is left; safe to call twice. */
export type Stop = () => Promise<void>;

/** What an app exports: something that can be run alone or beside others in one process. */
export interface Service {
  readonly name: string;
  /** Resolves when the service can do its work. */
  start(): Promise<RunningService>;
}

/** A started service. */
export interface RunningService {
  stop: Stop;
  /** What keeps the service from doing its work right now, in words; null when it is ready. */
  findFault?(): Promise<string | null>;
  /** Called first at shutdown, before any `stop`: from now on the service says that it is not ready. */
  drain?(): void;
  /** Addresses to show to a person, by what they are. */
  urls?: Record<string, string>;
  /** What did not open at the start, by the name of its address, each with a sentence that says why and what to do. */
  problems?: Record<string, string>;
}
