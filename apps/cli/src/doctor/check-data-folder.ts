import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { errorCode } from "@svc/primitives";
import type { EarlyConfig } from "@svc/runtime";
import type { Check } from "./check.ts";

const NAME = "Data folder";
const SECRET_FILES = ["secret-key", "cli-key", "postgres-password", "admin-key", "sign-up-link"];
const OTHERS_MASK = 0o077;
const OTHERS_WRITE = 0o022;

async function modeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mode;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

async function isUsable(folder: string): Promise<boolean> {
  return access(folder, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function nearestFolder(path: string): Promise<string> {
  return (await modeOf(path)) === null && dirname(path) !== path ? nearestFolder(dirname(path)) : path;
}

/** The secrets in a folder that others than their owner can read. Windows has other rights. */
async function findOpenSecrets(folder: string): Promise<string[]> {
  if (process.platform === "win32") return [];
  const paths = SECRET_FILES.map((file) => join(folder, file));
  const modes = await Promise.all(paths.map(modeOf));
  return paths.filter((_, index) => ((modes[index] ?? 0) & OTHERS_MASK) !== 0);
}

/** Below it the database of the data folder is about to stop taking anything. */
const LITTLE_MB = 512;
const MB = 1_000_000;

/** How much room a folder's disk has, in MB. */
async function readRoom(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return Math.floor((bavail * bsize) / MB);
}

/** Checks that the data folder can be used, and that nobody else can read what has to stay secret. */
export async function checkDataFolder({ dataDir, databaseUrl }: EarlyConfig): Promise<Check> {
  const folder = resolve(dataDir);
  if (databaseUrl !== undefined) return { name: NAME, status: "ok", detail: "not needed: DATABASE_URL is set" };
  const nearest = await nearestFolder(folder);
  if (!(await isUsable(nearest))) {
    return {
      name: NAME,
      status: "fail",
      detail: `no write permission for ${nearest}`,
      advice: "Run this command as the owner, or choose another folder with SVC_DATA_DIR.",
    };
  }
  const room = await readRoom(nearest);
  if (room < LITTLE_MB) {
    const detail = `the disk of ${nearest} is nearly full: ${room} MB free`;
    return {
      name: NAME,
      status: room < 1 ? "fail" : "warn",
      detail,
      advice: "Free disk space. No messages are accepted when the disk is full.",
    };
  }
  if (nearest !== folder) return { name: NAME, status: "ok", detail: `${folder} is created at the first startup` };
  const mode = process.platform === "win32" ? 0 : ((await modeOf(folder)) ?? 0);
  if ((mode & OTHERS_WRITE) !== 0) {
    const detail = `other users can write to ${folder} (mode ${(mode & 0o777).toString(8)})`;
    return { name: NAME, status: "warn", detail, advice: `Restrict it with: chmod 700 '${folder}'` };
  }
  const open = await findOpenSecrets(folder);
  if (open.length === 0) return { name: NAME, status: "ok", detail: folder };
  return {
    name: NAME,
    status: "warn",
    detail: `other users can read ${open.join(", ")}`,
    advice: `Restrict them with: chmod 600 ${open.map((path) => `'${path}'`).join(" ")}`,
  };
}
