-- In braces stand names that Kedge makes ({table} with its schema, {name} without), the keyword of the vectors' type
-- ({type}), as many question marks as there are values ({marks}), and conditions of `conditions.py` ({where}).

-- name: isolation
SET TRANSACTION ISOLATION LEVEL READ COMMITTED

-- ---------------------------------------------------------------- tables

-- name: table_exists
SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?

-- name: make_index_list
CREATE TABLE RAG.KedgeIndexes (name_digest VARCHAR(64) PRIMARY KEY, index_name VARCHAR(1000),
table_name VARCHAR(128) NOT NULL UNIQUE, dimension INTEGER NOT NULL)

-- name: find_index
SELECT table_name, dimension FROM RAG.KedgeIndexes WHERE name_digest = ?

-- name: table_is_taken
SELECT COUNT(*) FROM RAG.KedgeIndexes WHERE table_name = ?

-- name: enter_index
INSERT INTO RAG.KedgeIndexes (name_digest, index_name, table_name, dimension) VALUES (?, ?, ?, ?)

-- name: forget_index
DELETE FROM RAG.KedgeIndexes WHERE name_digest = ?

-- name: make_facts
CREATE TABLE {table}Facts (doc_id VARCHAR(64) NOT NULL, fact_field VARCHAR(64) NOT NULL,
fact_value VARCHAR(64) NOT NULL, fact_number DOUBLE)

-- name: index_facts_by_value
CREATE INDEX {name}FactsByValue ON {table}Facts (fact_field, fact_value)

-- name: index_facts_by_document
CREATE INDEX {name}FactsByDocument ON {table}Facts (doc_id)

-- name: make_terms
CREATE TABLE {table}Terms (doc_id VARCHAR(64) NOT NULL, term_id BIGINT NOT NULL, weight DOUBLE NOT NULL)

-- name: index_terms_by_term
CREATE INDEX {name}TermsByTerm ON {table}Terms (term_id)

-- name: index_terms_by_document
CREATE INDEX {name}TermsByDocument ON {table}Terms (doc_id)

-- name: make_documents
CREATE TABLE {table} (id VARCHAR(255) PRIMARY KEY, text_content LONGVARCHAR,
embedding VECTOR({type}, {dimension}), metadata LONGVARCHAR,
created_timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP)

-- name: index_embedding
-- Servers from 2025.1 on have it.
CREATE INDEX {name} ON TABLE {table} (embedding) AS HNSW(Distance='DotProduct')

-- name: drop_table
DROP TABLE {table}

-- ---------------------------------------------------------------- writing

-- name: add_document
INSERT INTO {table} (id, text_content, embedding, metadata) VALUES (?, ?, TO_VECTOR(?, {type}), ?)

-- name: add_fact
INSERT INTO {table}Facts (doc_id, fact_field, fact_value, fact_number) VALUES (?, ?, ?, ?)

-- name: add_term
INSERT INTO {table}Terms (doc_id, term_id, weight) VALUES (?, ?, ?)

-- name: remove_facts
DELETE FROM {table}Facts WHERE doc_id = ?

-- name: remove_terms
DELETE FROM {table}Terms WHERE doc_id = ?

-- name: remove_document
DELETE FROM {table} WHERE id = ?

-- ---------------------------------------------------------------- reading

-- name: nearest
SELECT TOP ? id, VECTOR_DOT_PRODUCT(embedding, TO_VECTOR(?, {type})) AS score
FROM {table} WHERE embedding IS NOT NULL AND {where} ORDER BY score DESC

-- name: best_by_terms
-- {cases} says what each term weighs.
SELECT TOP ? doc_id, SUM(weight * CASE term_id {cases} END) AS score
FROM {table}Terms WHERE term_id IN ({marks}) AND {where} GROUP BY doc_id ORDER BY score DESC

-- name: count_documents
SELECT COUNT(*) FROM {table} WHERE {where}

-- name: following_ids
SELECT TOP ? doc_id FROM {table}Facts WHERE fact_field = ? AND fact_value = ? AND doc_id > ? ORDER BY doc_id

-- name: read_vectors
SELECT id, embedding FROM {table} WHERE id IN ({marks})

-- name: read_terms
SELECT doc_id, term_id, weight FROM {table}Terms WHERE doc_id IN ({marks})

-- name: count_texts
SELECT COUNT(*) FROM {table}Facts WHERE fact_field = ?

-- name: count_texts_of_tenant
SELECT COUNT(*) FROM {table}Facts WHERE fact_field = ? AND fact_value = ?

-- name: count_by_term
SELECT term_id, COUNT(*) FROM {table}Terms WHERE term_id IN ({marks}) GROUP BY term_id

-- name: count_by_term_of_tenant
SELECT term_id, COUNT(*) FROM {table}Terms WHERE term_id IN ({marks}) AND {where} GROUP BY term_id
