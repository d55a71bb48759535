-- PostgreSQL: locks between processes, and what is asked of procrastinate's tables.

-- name: lock_shared
SELECT pg_advisory_lock_shared(hashtextextended(%s, 0))

-- name: lock_alone
SELECT pg_advisory_lock(hashtextextended(%s, 0))

-- name: try_lock_alone
SELECT pg_try_advisory_lock(hashtextextended(%s, 0))

-- name: unlock_all
SELECT pg_advisory_unlock_all()

-- name: answer
SELECT 1

-- name: wait_for_others
-- Held until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))

-- name: find_queue
-- NULL when there are no tables yet.
SELECT to_regclass('procrastinate_jobs')

-- name: count_workers
-- Those that gave a sign of life lately.
SELECT count(*) AS alive FROM procrastinate_workers
WHERE last_heartbeat > now() - make_interval(secs => %(seconds)s)
