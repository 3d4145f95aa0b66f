import { ServiceError } from "@svc/contracts";
import type { QuotaName, ReachedQuota } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { Db } from "../db.ts";
import { asProjectId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** Seconds after which a client may retry if all sockets of the project are in use. */
const SOCKET_RETRY_S = 30;

const WORDS: Record<QuotaName, string> = {
  messagesPerDay: "messages of the day",
  documents: "documents",
  storageMb: "MB of storage",
  sockets: "open sockets",
};

const reached = (
  name: QuotaName,
  { limit, used, until = null }: { limit: number; used: number; until?: Date | null },
) => {
  const quota: ReachedQuota = { name, limit, used, resetsAt: until?.toISOString() ?? null };
  return { text: `The project uses ${used} of its ${limit} ${WORDS[name]}.`, quota };
};

/** Returns the error of a content limit: of documents, or of stored megabytes. */
export function storageQuotaExceeded(name: "documents" | "storageMb", limit: number, used: number): ServiceError {
  const { text, quota } = reached(name, { limit, used });
  return new ServiceError(
    "storage_quota_exceeded",
    `${text} Delete some content, or ask an administrator to raise the limit.`,
    {
      quota,
    },
  );
}

/** Returns the error of a temporary limit: of the messages of a day, or of open sockets. */
export function quotaExceeded(name: "messagesPerDay" | "sockets", limit: number, used: number): ServiceError {
  const midnight = new Date(new Date().setUTCHours(24, 0, 0, 0));
  const until = name === "messagesPerDay" ? midnight : null;
  const { text, quota } = reached(name, { limit, used, until });
  const seconds = until === null ? SOCKET_RETRY_S : Math.max(1, Math.ceil((until.getTime() - Date.now()) / 1_000));
  const when = until === null ? `in ${seconds} s` : `after ${until.toISOString()}`;
  return new ServiceError("quota_exceeded", `${text} Retry ${when}, or ask an administrator to raise the limit.`, {
    quota,
    headers: { "Retry-After": String(seconds) },
  });
}

/** Kinds of stored data that are counted. See the migration. */
export const STORED_KINDS = [
  "visitorFiles",
  "operatorFiles",
  "replyFiles",
  "hookBodies",
  "documents",
  "texts",
] as const;
export type StoredKind = (typeof STORED_KINDS)[number];

/** Limits of stored bytes. */
export interface StorageLimits {
  installationMaxBytes: number;
  projectMaxBytes: number;
  /** Files of the customer in a conversation. */
  conversationMaxBytes: number;
  /** Files of the customer in a conversation within 24 hours. */
  visitorDayMaxBytes: number;
}

const MB = 1024 * 1024;
const GB = 1024 * MB;

/** Generous for a company's customer support, and small compared with the disk of a server. */
export const STORAGE_LIMITS: StorageLimits = {
  installationMaxBytes: 50 * GB,
  projectMaxBytes: 10 * GB,
  conversationMaxBytes: 500 * MB,
  visitorDayMaxBytes: 200 * MB,
};

/** Share of a limit from which administrators are warned. */
export const STORAGE_WARNING_SHARE = 0.8;

/**
 * Share of the limits of project and installation that a kind may use alone, for kinds that strangers can send without
 * a key. A flood of files leaves room for operators and documents.
 */
const OWN_SHARE = { visitorFiles: 0.5, texts: 1 } as const satisfies Partial<Record<StoredKind, number>>;
type StrangersKind = keyof typeof OWN_SHARE;
const STRANGERS_KINDS = ["visitorFiles", "texts"] as const satisfies readonly StrangersKind[];
const isStrangersKind = (kind: StoredKind): kind is StrangersKind => kind in OWN_SHARE;

const KIND_WORDS: Record<StrangersKind, string> = { visitorFiles: "files of visitors", texts: "texts of messages" };

/** Minimum interval between warnings about one limit. */
const WARN_EVERY_MS = 600_000;
/** Rows folded per statement. */
const FOLD_MAX = 10_000;

/** Storage of a project, in bytes. */
export interface ProjectUsage {
  project: ProjectId;
  name: string;
  kinds: Record<StoredKind, number>;
  totalBytes: number;
}

/** Storage of an installation, and its limits. */
export interface StorageUsage {
  projects: ProjectUsage[];
  totalBytes: number;
  limits: StorageLimits;
}

/** A limit and its usage. */
interface LimitState {
  usedBytes: number;
  maxBytes: number;
  /** What it limits, as the subject of a sentence. */
  words: string;
  /** True for the quota that an administrator has set for the project, false for a limit of the installation. */
  isQuota?: boolean;
}

const sql = statements("platform/stored-bytes", {
  foldMax: FOLD_MAX,
});

/** Formats a number of bytes for display, as in `1.5 GB`. */
export function describeBytes(bytes: number): string {
  const [unit, size] = bytes >= GB ? ["GB", GB] : bytes >= MB ? ["MB", MB] : (["KB", 1024] as const);
  return `${(bytes / size).toFixed(bytes >= 10 * size ? 0 : 1).replace(/\.0$/, "")} ${unit}`;
}

/** Returns the error of a limit that is reached. */
export const storageFull = (detail: string) => new ServiceError("storage_full", detail);

/** Returns the used share of a project's fullest limit. */
export function usedShareOf({ kinds, totalBytes }: Pick<ProjectUsage, "kinds" | "totalBytes">, limits: StorageLimits) {
  const parts = STRANGERS_KINDS.map((kind) => kinds[kind] / OWN_SHARE[kind]);
  return Math.max(totalBytes, ...parts) / limits.projectMaxBytes;
}

/** Returns a sentence for each limit of the installation and of projects that is used to 80 % or more. */
export function storageWarnings({ projects, totalBytes, limits }: StorageUsage): string[] {
  const states: LimitState[] = [
    { words: "The installation", usedBytes: totalBytes, maxBytes: limits.installationMaxBytes },
    ...projects.flatMap(({ name, kinds, totalBytes: usedBytes }) => [
      { words: `Project ${name}`, usedBytes, maxBytes: limits.projectMaxBytes },
      ...STRANGERS_KINDS.map((kind) => ({
        words: `Project ${name} (${KIND_WORDS[kind]})`,
        usedBytes: kinds[kind],
        maxBytes: limits.projectMaxBytes * OWN_SHARE[kind],
      })),
    ]),
  ];
  return states
    .filter(({ usedBytes, maxBytes }) => usedBytes >= maxBytes * STORAGE_WARNING_SHARE)
    .map(
      ({ words, usedBytes, maxBytes }) => `${words} stores ${describeBytes(usedBytes)} of ${describeBytes(maxBytes)}`,
    );
}

const noBytes = (): Record<StoredKind, number> => ({
  visitorFiles: 0,
  operatorFiles: 0,
  replyFiles: 0,
  hookBodies: 0,
  documents: 0,
  texts: 0,
});

/** Returns a function that warns in the log about a nearly reached limit, at most every ten minutes. */
function createWarner(log: Pick<Log, "warn">): (state: LimitState, project: ProjectId) => void {
  const warnedAt = new Map<string, number>();
  return ({ words, usedBytes, maxBytes }, project) => {
    const key = `${project} ${words}`;
    const now = performance.now();
    if (now - (warnedAt.get(key) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY_MS) return;
    warnedAt.set(key, now);
    log.warn(
      { project, usedBytes, maxBytes },
      `${words} uses more than ${STORAGE_WARNING_SHARE * 100} % of its limit. Delete files, shorten their retention, or raise the limit`,
    );
  };
}

/** Returns the limits for a kind in a project, with their usage. */
async function readStates(
  db: Db,
  { installationMaxBytes, projectMaxBytes }: StorageLimits,
  project: ProjectId,
  kind: StoredKind,
): Promise<LimitState[]> {
  const row = await sql.sumKind.one<
    Record<"ofKind" | "ofProject" | "ofKindEverywhere" | "ofInstallation", number> & { quotaMb: number | null }
  >(db, { project, kind });
  const ofProject = { words: "Storage of this project", usedBytes: row?.ofProject ?? 0, maxBytes: projectMaxBytes };
  const ofAll = {
    words: "Storage of this installation",
    usedBytes: row?.ofInstallation ?? 0,
    maxBytes: installationMaxBytes,
  };
  const quotaMb = row?.quotaMb ?? null;
  const usedBytes = (kind === "texts" ? row?.ofKind : row?.ofProject) ?? 0;
  const quota =
    quotaMb === null
      ? []
      : [{ words: "Storage quota of this project", usedBytes, maxBytes: quotaMb * MB, isQuota: true }];
  if (!isStrangersKind(kind)) return [...quota, ofProject, ofAll];
  const own = [
    {
      words: `Storage of this project for ${KIND_WORDS[kind]}`,
      usedBytes: row?.ofKind ?? 0,
      maxBytes: projectMaxBytes * OWN_SHARE[kind],
    },
    {
      words: `Storage of this installation for ${KIND_WORDS[kind]}`,
      usedBytes: row?.ofKindEverywhere ?? 0,
      maxBytes: installationMaxBytes * OWN_SHARE[kind],
    },
  ];
  // Texts of customers are accepted as long as texts alone leave room, however many files there are.
  return kind === "texts" ? [...quota, ...own] : [...quota, ...own, ofProject, ofAll];
}

/** Counts stored bytes of projects, and enforces their limits. */
export function storedBytesTable(
  db: Db,
  { limits, log, isDiskFull }: { limits: StorageLimits; log: Pick<Log, "warn">; isDiskFull: () => boolean },
) {
  const warn = createWarner(log);

  return {
    limits,

    /**
     * Throws storage_full if `bytes` more of this kind exceed a limit of the project or of the installation, or while
     * the disk is full; storage_quota_exceeded if they exceed the quota of the project. Nothing is reserved: concurrent
     * requests may exceed the limit by their own size each. Logs a warning from 80 % of a limit on.
     */
    async checkRoom(project: ProjectId, kind: StoredKind, bytes: number): Promise<void> {
      if (isDiskFull()) throw storageFull("The disk of the database is full. Retry later.");
      const states = await readStates(db, limits, project, kind);
      for (const state of states) {
        if (state.usedBytes + bytes >= state.maxBytes * STORAGE_WARNING_SHARE) warn(state, project);
      }
      const full = states.find(({ usedBytes, maxBytes }) => usedBytes + bytes > maxBytes);
      if (full === undefined) return;
      const megabytes = (size: number) => Math.round(size / (MB / 10)) / 10;
      if (full.isQuota === true) {
        throw storageQuotaExceeded("storageMb", megabytes(full.maxBytes), megabytes(full.usedBytes));
      }
      throw storageFull(
        `${full.words} is full: ${describeBytes(full.usedBytes)} of ${describeBytes(full.maxBytes)} are used. An administrator can delete files or documents, shorten their retention, or raise the limit.`,
      );
    },

    /** Returns the storage of a project, by kind. */
    async readProject(project: ProjectId): Promise<Pick<ProjectUsage, "kinds" | "totalBytes">> {
      const rows = await sql.readProject.all<{ kind: StoredKind; bytes: number }>(db, { project });
      const kinds = noBytes();
      for (const { kind, bytes } of rows) kinds[kind] = bytes;
      return { kinds, totalBytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) };
    },

    /** Returns the storage of every project, by kind. Deleted projects count until all their data is removed. */
    async read(): Promise<StorageUsage> {
      const rows = await sql.read.all<{ projectId: string; name: string | null; kind: StoredKind; bytes: number }>(db);
      const projects = new Map<string, ProjectUsage>();
      for (const row of rows) {
        const usage = projects.get(row.projectId) ?? {
          project: asProjectId(row.projectId),
          name: row.name ?? "deleted",
          kinds: noBytes(),
          totalBytes: 0,
        };
        usage.kinds[row.kind] += row.bytes;
        usage.totalBytes += row.bytes;
        projects.set(row.projectId, usage);
      }
      const all = [...projects.values()];
      return { projects: all, totalBytes: all.reduce((sum, { totalBytes }) => sum + totalBytes, 0), limits };
    },

    /** Folds the rows of each project and kind into one. Returns true when there may be more to fold. */
    async fold(): Promise<boolean> {
      const row = await sql.fold.one(db);
      return (row?.count ?? 0) === FOLD_MAX;
    },
  };
}

/** Counts and limits of stored bytes. */
export type StoredBytes = ReturnType<typeof storedBytesTable>;
