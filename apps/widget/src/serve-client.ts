import { readFile, stat } from "node:fs/promises";
import { ServiceError } from "@svc/contracts";
import { makeFixedAnswer, sendFixedAnswer } from "@svc/http";
import type { FixedAnswer } from "@svc/http";
import type { Express, Request, RequestHandler, Response } from "express";
import { errorCode } from "@svc/primitives";

/** Where the build puts the script, its chunks and the list of them. */
const CLIENT_DIR = new URL("../dist/client/", import.meta.url);

const SCRIPT_CACHE = "public, max-age=86400, stale-while-revalidate=604800";
const CHUNK_CACHE = "public, max-age=31536000, immutable";
/** What stands in for a chunk of another version is not that chunk. */
const STAND_IN_CACHE = "public, max-age=60";

/** A name of a chunk: what it is, then a hash of its content. */
const CHUNK = /^([A-Za-z0-9_.-]+)-([A-Za-z0-9]{6,16})\.js$/;

interface ClientFile extends FixedAnswer {
  changedAt: number;
}

/** Reads files of the build, each once as long as it does not change. */
function createClientFiles() {
  const known = new Map<string, ClientFile>();

  async function read(name: string): Promise<ClientFile> {
    const url = new URL(name, CLIENT_DIR);
    const { mtimeMs: changedAt } = await stat(url);
    const before = known.get(name);
    if (before?.changedAt === changedAt) return before;
    const file = { changedAt, ...(await makeFixedAnswer(await readFile(url))) };
    known.set(name, file);
    return file;
  }

  return {
    /** A file of the build; null when there is none of this name. */
    async find(name: string): Promise<ClientFile | null> {
      try {
        return await read(name);
      } catch (error) {
        if (errorCode(error) === "ENOENT") return null;
        throw error;
      }
    },
  };
}

type ClientFiles = ReturnType<typeof createClientFiles>;

const send = (request: Request, response: Response, file: ClientFile, cacheControl: string) =>
  sendFixedAnswer(request, response, file, {
    "Content-Type": "text/javascript; charset=utf-8",
    "Cache-Control": cacheControl,
    // Scripts are loaded by pages of any site; what they may do is decided by what they call.
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
  });

const notBuilt = () =>
  new ServiceError("not_found", "The widget's script is not built here. Run: npm run build.", {
    headers: { "Cache-Control": "no-store" },
  });

const noSuchChunk = () => new ServiceError("not_found", "The widget has no chunk with this name.");

/** The chunk of this name in the present build; null when it has none. */
async function findCurrent(files: ClientFiles, name: string): Promise<ClientFile | null> {
  const manifest = await files.find("manifest.json");
  if (manifest === null) return null;
  const chunks = JSON.parse(manifest.plain.toString("utf8")) as Record<string, unknown>;
  const current = Object.hasOwn(chunks, name) ? chunks[name] : undefined;
  return typeof current === "string" ? files.find(current) : null;
}

/** `GET /widget.js`. */
function getScript(files: ClientFiles): RequestHandler {
  return async (request, response) => {
    const file = await files.find("widget.js");
    if (file === null) throw notBuilt();
    send(request, response, file, SCRIPT_CACHE);
  };
}

/** `GET /chunks/:chunk`. */
function getChunk(files: ClientFiles): RequestHandler {
  return async (request, response) => {
    const { chunk } = request.params;
    // Nothing but a name of this form is ever looked for.
    const [path, name] = CHUNK.exec(typeof chunk === "string" ? chunk : "") ?? [];
    if (name === undefined) throw noSuchChunk();
    const exact = await files.find(`chunks/${path}`);
    if (exact !== null) {
      send(request, response, exact, CHUNK_CACHE);
      return;
    }
    const current = await findCurrent(files, name);
    if (current === null) throw noSuchChunk();
    send(request, response, current, STAND_IN_CACHE);
  };
}

/**
 * `GET /widget.js`, kept for a day, and the chunks that it loads, kept for good since their names have a hash. A page
 * that has an older script for a while is answered with the present chunk.
 */
export function addClientRoutes(routes: Express, refuse: RequestHandler): void {
  const files = createClientFiles();
  routes.route("/widget.js").get(getScript(files)).all(refuse);
  routes.route("/chunks/:chunk").get(getChunk(files)).all(refuse);
}
