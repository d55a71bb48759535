-- In braces stand names of the tables of one index and conditions that `conditions.py` makes, put in by psycopg's `SQL`.

-- ---------------------------------------------------------------- the extension and the list of indexes

-- name: find_extension
SELECT 1 FROM pg_extension WHERE extname = 'vector'

-- name: find_available_extension
SELECT 1 FROM pg_available_extensions WHERE name = 'vector'

-- name: make_extension
CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public

-- name: extension_version
SELECT extversion FROM pg_extension WHERE extname = 'vector'

-- name: server_version
SHOW server_version

-- name: make_index_list
CREATE TABLE IF NOT EXISTS kedge_vector_indexes (name text COLLATE "C" PRIMARY KEY, dimension int NOT NULL,
written int NOT NULL DEFAULT 0, hnsw boolean NOT NULL DEFAULT false, optimized bigint NOT NULL DEFAULT 0)

-- name: make_tenant_list
CREATE TABLE IF NOT EXISTS kedge_vector_tenants (name text COLLATE "C" NOT NULL
REFERENCES kedge_vector_indexes ON DELETE CASCADE, tenant text COLLATE "C" NOT NULL,
points bigint NOT NULL, texts bigint NOT NULL, PRIMARY KEY (name, tenant))

-- name: find_index
SELECT dimension, hnsw, optimized FROM kedge_vector_indexes WHERE name = %(name)s

-- name: enter_index
INSERT INTO kedge_vector_indexes (name, dimension) VALUES (%(name)s, %(dimension)s)

-- name: forget_index
DELETE FROM kedge_vector_indexes WHERE name = %(name)s

-- name: take_numbers
-- Numbers for so many new points: the last of them comes back.
UPDATE kedge_vector_indexes SET written = written + %(count)s WHERE name = %(name)s RETURNING written

-- name: note_optimized
UPDATE kedge_vector_indexes SET hnsw = %(hnsw)s, optimized = %(points)s WHERE name = %(name)s

-- name: add_to_counts
INSERT INTO kedge_vector_tenants AS held (name, tenant, points, texts)
VALUES (%(name)s, %(tenant)s, %(points)s, %(texts)s) ON CONFLICT (name, tenant) DO UPDATE
SET points = held.points + excluded.points, texts = held.texts + excluded.texts

-- name: count_all_points
SELECT coalesce(sum(points), 0)::bigint FROM kedge_vector_tenants WHERE name = %(name)s

-- name: count_points_of_tenant
SELECT coalesce(sum(points), 0) FROM kedge_vector_tenants WHERE name = %(name)s AND tenant = %(tenant)s

-- name: count_texts
-- Points that have terms at all, of one tenant or of all.
SELECT coalesce(sum(texts), 0)::bigint FROM kedge_vector_tenants
WHERE name = %(name)s AND (tenant = %(tenant)s OR %(tenant)s::text IS NULL)

-- ---------------------------------------------------------------- tables of an index

-- name: make_points
-- A scan must not fetch vectors and payloads from elsewhere, nor read over terms: only those are stored aside.
CREATE TABLE {points} (tenant text COLLATE "C" NOT NULL, id uuid NOT NULL, number int NOT NULL UNIQUE,
vector vector({dimension}) NOT NULL, payload jsonb NOT NULL, terms bytea NOT NULL, PRIMARY KEY (tenant, id))
WITH (toast_tuple_target = {width})

-- name: store_terms_aside
ALTER TABLE {points} ALTER COLUMN terms SET STORAGE EXTERNAL, ALTER COLUMN payload SET STORAGE MAIN

-- name: store_vectors_inside
ALTER TABLE {points} ALTER COLUMN vector SET STORAGE PLAIN

-- name: index_payloads
CREATE INDEX {name} ON {points} USING gin (payload jsonb_path_ops)

-- name: make_postings
CREATE TABLE {postings} (term int4 NOT NULL, tenant text COLLATE "C" NOT NULL, first int NOT NULL,
pairs bytea NOT NULL, PRIMARY KEY (term, tenant, first))

-- name: store_pairs_unpacked
ALTER TABLE {postings} ALTER COLUMN pairs SET STORAGE EXTERNAL

-- name: index_numbers
CREATE INDEX IF NOT EXISTS {name} ON {points} ((payload -> {field}))
WHERE jsonb_typeof(payload -> {field}) = 'number'

-- name: index_lists
CREATE INDEX IF NOT EXISTS {name} ON {points} (id) WHERE jsonb_typeof(payload -> {field}) = 'array'

-- name: drop_tables
DROP TABLE {points}, {postings}

-- ---------------------------------------------------------------- points

-- name: add_points
INSERT INTO {points} (tenant, id, number, vector, payload, terms)
VALUES (%s, %s::uuid, %s, %s::vector, %s::jsonb, %s)

-- name: remove_points
DELETE FROM {points} WHERE tenant = %(tenant)s AND id = ANY(%(ids)s::uuid[]) RETURNING number, terms

-- name: count_points
SELECT count(*) FROM {points} WHERE tenant = %(tenant)s AND {where}

-- name: first_ids
SELECT id::text FROM {points} WHERE tenant = %(tenant)s ORDER BY id LIMIT %(limit)s

-- name: following_ids
SELECT id::text FROM {points} WHERE tenant = %(tenant)s AND id > %(after)s::uuid ORDER BY id LIMIT %(limit)s

-- name: read_points
SELECT id::text, vector_send(vector), terms FROM {points} WHERE tenant = %(tenant)s AND id = ANY(%(ids)s::uuid[])

-- name: numbers_that_pass
-- Packed into one value: there may be many.
SELECT string_agg(int4send(number), '') FROM {points} WHERE tenant = %(tenant)s AND {where}

-- name: ids_of_numbers
SELECT number, id::text FROM {points} WHERE number = ANY(%(numbers)s::int4[])

-- ---------------------------------------------------------------- search by vector

-- name: exact_search
SELECT id::text AS point, score / %(steps)s FROM
(SELECT id, round(-(vector <#> %(vector)s::vector) * %(steps)s) AS score
FROM {points} WHERE tenant = %(tenant)s AND {where}) AS found ORDER BY score DESC, id LIMIT %(limit)s

-- name: near_search
-- The nearest by HNSW, put in order by their exact scores.
SELECT id::text, -(vector <#> %(vector)s::vector) AS score FROM (SELECT id, vector FROM {points}
WHERE tenant = %(tenant)s AND {where} ORDER BY {distance} LIMIT %(fetch)s) AS near ORDER BY score DESC

-- name: count_up_to
SELECT count(*) FROM (SELECT 1 FROM {points} WHERE tenant = %(tenant)s AND {where} LIMIT %(many)s) AS enough

-- name: tune_search
SELECT set_config('hnsw.ef_search', %(ef)s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true)

-- ---------------------------------------------------------------- postings
-- Every lookup is a subquery with a limit, and rows are deleted by their address: as a join, the server would plan it by
-- statistics that know nothing of a tenant that has just come.

-- name: add_postings
INSERT INTO {postings} (term, tenant, first, pairs) SELECT term, %(tenant)s, first, pairs
FROM unnest(%(terms)s::int4[], %(firsts)s::int4[], %(pairs)s::bytea[]) AS new (term, first, pairs)

-- name: postings_that_hold
SELECT wanted.term, wanted.first, held.address, held.pairs FROM (SELECT DISTINCT gone.term, place.first
FROM unnest(%(terms)s::int4[], %(points)s::int4[]) AS gone (term, point)
CROSS JOIN LATERAL (SELECT first FROM {postings} WHERE term = gone.term AND tenant = %(tenant)s
AND first <= gone.point ORDER BY first DESC LIMIT 1) AS place) AS wanted
CROSS JOIN LATERAL (SELECT ctid::text AS address, pairs FROM {postings} WHERE term = wanted.term
AND tenant = %(tenant)s AND first = wanted.first LIMIT 1) AS held

-- name: clear_postings
DELETE FROM {postings} WHERE ctid = ANY(%(addresses)s::tid[])

-- name: read_postings
SELECT term, string_agg(pairs, '') FROM {postings}
WHERE term = ANY(%(terms)s::int4[]) AND tenant = %(tenant)s GROUP BY term

-- name: size_of_postings
SELECT term, sum(octet_length(pairs))::bigint FROM {postings} WHERE term = ANY(%(terms)s::int4[]) GROUP BY term

-- ---------------------------------------------------------------- optimising

-- name: optimize_alone
SELECT pg_try_advisory_lock(hashtextextended(current_schema() || '/optimize/' || %(name)s, 0))

-- name: tune_build
SELECT set_config('maintenance_work_mem', %(memory)s, false), set_config('lock_timeout', '0', false)

-- name: drop_hnsw
DROP INDEX CONCURRENTLY IF EXISTS {name}

-- name: build_hnsw
CREATE INDEX CONCURRENTLY {name} ON {points} USING hnsw ({vector} {operators})
WITH (m = {m}, ef_construction = {ef})

-- name: tidy_up
VACUUM (ANALYZE) {points}, {postings}
