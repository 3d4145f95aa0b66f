import { readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { makeTemporaryFolder } from "./child-process.ts";

/** An S3-compatible server that checks signatures (SigV4), with one empty bucket. */
export interface S3Server {
  /** Value of `SVC_FILES_URL` for its bucket. */
  url: string;
  /** Names of the objects in the bucket. */
  listObjects(): Promise<string[]>;
  close(): Promise<void>;
}

/** The package's server; the package has no types. */
type S3rver = new (options: {
  address: string;
  port: number;
  silent: boolean;
  directory: string;
  configureBuckets: { name: string }[];
}) => { run(): Promise<{ port: number }>; close(): Promise<void> };

const BUCKET = "svc-files";
/** Suffix of the server's files with an object's content. */
const SUFFIX = "._S3rver_object";

/** Starts an S3-compatible server on a free port, with its data in a temporary folder. */
export async function startS3Server(): Promise<S3Server> {
  // Loaded only by the tests that need it.
  const S3rver = createRequire(import.meta.url)("@20minutes/s3rver") as S3rver;
  const folder = await makeTemporaryFolder("s3");
  const directory = folder.path;
  const configureBuckets = [{ name: BUCKET }];
  const server = new S3rver({ address: "127.0.0.1", port: 0, silent: true, directory, configureBuckets });
  const { port } = await server.run();
  return {
    url: `s3://S3RVER:S3RVER@127.0.0.1:${port}/${BUCKET}?tls=false`,
    async listObjects() {
      const files = await readdir(`${directory}/${BUCKET}`, { recursive: true });
      return files.filter((file) => file.endsWith(SUFFIX)).map((file) => file.slice(0, -SUFFIX.length));
    },
    async close() {
      await server.close();
      await folder.remove();
    },
  };
}
