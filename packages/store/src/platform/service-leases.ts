import type { Db } from "../db.ts";

/** Work that one process of all replicas does at a time: whoever holds the lease of its name. */
export function serviceLeasesTable(db: Db) {
  return {
    /**
     * Takes a lease, or renews it, for so long. False while another holder has it. Who renews in vain has lost it, and
     * must have ended its work before the time is over that it has had.
     */
    async take(name: string, holder: string, leaseMs: number): Promise<boolean> {
      // The row is locked by whoever writes it; of two that come at once, the later one sees the holder.
      const rows = await db.prepared(
        "service_leases_take",
        `INSERT INTO service_leases AS l (name, holder, lease_until)
         VALUES ($1, $2, now() + $3 * interval '1 millisecond')
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
         WHERE l.holder = excluded.holder OR l.lease_until < now()
         RETURNING 1`,
        [name, holder, leaseMs],
      );
      return rows.length > 0;
    },

    /** Gives a lease back, so that another one need not wait for its end. Does nothing when it is another's. */
    async release(name: string, holder: string): Promise<void> {
      await db.query("DELETE FROM service_leases WHERE name = $1 AND holder = $2", [name, holder]);
    },
  };
}
