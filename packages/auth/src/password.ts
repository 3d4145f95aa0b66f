import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/** Cost of a hash: `2 ** cost` blocks of 128 times `blockSize` bytes, processed `parallel` times. */
interface Parameters {
  cost: number;
  blockSize: number;
  parallel: number;
}

/**
 * 128 MB and 0.1 to 0.3 s per password (measured on two cores of a slow machine: 0.29 s), as the OWASP Password Storage
 * Cheat Sheet recommends for scrypt. A hash contains its parameters, so that these may be raised.
 */
const PRESENT: Parameters = { cost: 17, blockSize: 8, parallel: 1 };

/** Hashes with higher parameters are rejected, so that a forged hash cannot exhaust the memory. */
const MOST: Parameters = { cost: 18, blockSize: 16, parallel: 4 };

const SALT_BYTES = 16;
const KEY_BYTES = 32;

const FORMAT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9_-]{1,86})\$([A-Za-z0-9_-]{1,86})$/;

/** Compared with the passwords of unknown users, so that they take as long as those of known ones. */
const NOBODYS: KnownHash = { parameters: PRESENT, salt: randomBytes(SALT_BYTES), key: randomBytes(KEY_BYTES) };

interface KnownHash {
  parameters: Parameters;
  salt: Buffer;
  key: Buffer;
}

/** One password at a time, so that many concurrent sign-ins cost time and not memory. */
let last: Promise<unknown> = Promise.resolve();

function derive(password: string, salt: Buffer, { cost, blockSize, parallel }: Parameters): Promise<Buffer> {
  const run = () =>
    new Promise<Buffer>((resolve, reject) => {
      const options = { N: 2 ** cost, r: blockSize, p: parallel, maxmem: 2 ** cost * blockSize * 128 * 2 };
      // The same characters may have several forms in Unicode, depending on the keyboard.
      scrypt(password.normalize("NFKC"), salt, KEY_BYTES, options, (error, key) => {
        if (error === null) resolve(key);
        else reject(error);
      });
    });
  const turn = last.then(run, run);
  last = turn;
  return turn;
}

/** Returns the stored hash of a password: scrypt with its parameters and a random salt. Takes 0.1 to 0.3 s. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, PRESENT);
  const { cost, blockSize, parallel } = PRESENT;
  return `$scrypt$ln=${cost},r=${blockSize},p=${parallel}$${salt.toString("base64url")}$${key.toString("base64url")}`;
}

/**
 * Returns true if a password matches a hash. Pass null if there is no hash, for example for an unknown user: the result
 * is false, and takes as long as any other. A text that is not a hash never matches.
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const known = hash === null ? null : readHash(hash);
  const { parameters, salt, key } = known ?? NOBODYS;
  const derived = await derive(password, salt, parameters);
  return derived.length === key.length && timingSafeEqual(derived, key) && known !== null;
}

function readHash(hash: string): KnownHash | null {
  const [, cost, blockSize, parallel, salt = "", key = ""] = FORMAT.exec(hash) ?? [];
  const parameters = { cost: Number(cost), blockSize: Number(blockSize), parallel: Number(parallel) };
  const isSound = (Object.keys(MOST) as (keyof Parameters)[]).every(
    (name) => parameters[name] >= 1 && parameters[name] <= MOST[name],
  );
  if (!isSound) return null;
  return { parameters, salt: Buffer.from(salt, "base64url"), key: Buffer.from(key, "base64url") };
}
