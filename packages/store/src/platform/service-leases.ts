import type { Db } from "../db.ts";
import { statements } from "../sql.ts";

const sql = statements("platform/service-leases");

/**
 * Takes a lease, or renews it, for so long. False while another holder has it. Who renews in vain has lost it, and
 * must have ended its work before the time is over that it has had.
 */
export async function take(db: Db, name: string, holder: string, leaseMs: number): Promise<boolean> {
  return (await sql.take.run(db, { name, holder, leaseMs })) > 0;
}

/** Gives a lease back, so that another one need not wait for its end. Does nothing when it is another's. */
export async function release(db: Db, name: string, holder: string): Promise<void> {
  await sql.release.run(db, { name, holder });
}
