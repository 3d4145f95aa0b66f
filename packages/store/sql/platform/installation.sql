-- name: checkSecretKey
-- Compares the secret key of this process with the one that sealed this store's secrets. Locks the rows of installation
-- that it writes.
UPDATE installation SET secret_key_check = :sealed WHERE secret_key_check IS NULL;

-- name: findInstallation
SELECT secret_key_check FROM installation;

-- name: exclusively
-- Runs `work` while no other process initialises this store.
SELECT pg_advisory_xact_lock(:initialize_lock);

-- name: runRow
-- On a busy machine the work, in which this connection does nothing, takes longer than transactions may be idle.
SET LOCAL idle_in_transaction_session_timeout = '5min';

-- name: isInitialized
-- True once the first initialisation has been finished.
SELECT initialized_at IS NOT NULL AS done FROM installation;

-- name: isAdminKeyShown
-- True once somebody was shown the first administrator's key.
SELECT admin_key_shown_at IS NOT NULL AS done FROM installation;

-- name: markAdminKeyShown
-- Notes that somebody was shown the first administrator's key. Locks the rows of installation that it writes.
UPDATE installation SET admin_key_shown_at = now() WHERE admin_key_shown_at IS NULL;

-- name: markInitialized
-- Notes that the first initialisation is finished: what it made is not made again when somebody deletes it. Locks the
-- rows of installation that it writes.
UPDATE installation SET initialized_at = now() WHERE initialized_at IS NULL;
