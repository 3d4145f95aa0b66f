/** The part of a logger that this package uses; a pino logger fits. */
export type PostgresLogger = {
  info(obj: object, msg: string): void;
  warn(obj: object, msg: string): void;
  error(obj: object, msg: string): void;
};
