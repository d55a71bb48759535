// The concept graph. Every statement is given $tenant and $collection.
//
// A node is found by its id, within the scope and by a seek in its index. The seek is asked for in every statement: the
// server keeps the plan it made when the graph was small, and left alone that plan may read all nodes of a label for
// every id, long after the graph has grown.
//
// In braces stand types of edges: {mentions} all from a chunk to a concept, {predicates} all between concepts, {kind} and
// {predicate} one of either.

// ---------------------------------------------------------------- writing

// name: merge_concepts
// Only those that the batch adds something to come back.
UNWIND $rows AS row
MERGE (c:Concept {tenant: $tenant, collection: $collection, key: row.key})
ON CREATE SET c += row.fields, c.id = row.id, c.degree = 0, c.created_at = $now, c.updated_at = $now
WITH c, row.fields AS new
WHERE (c.description = '' AND new.description <> '') OR (c.category = '' AND new.category <> '')
   OR (c.difficulty = '' AND new.difficulty <> '')
   OR any(alias IN new.aliases WHERE NOT alias IN c.aliases) OR any(tag IN new.tags WHERE NOT tag IN c.tags)
RETURN c.id, c.name, c.aliases, c.description, c.category, c.difficulty, c.tags

// name: update_concepts
UNWIND $rows AS row
MATCH (c:Concept {tenant: $tenant, collection: $collection, id: row.id}) USING INDEX SEEK c:Concept(id)
SET c += row.fields, c.updated_at = $now

// name: merge_documents
// New fields; the old mentions and titles go. Returns the ids of the former titles.
UNWIND $rows AS row
MERGE (d:Document {tenant: $tenant, collection: $collection, document_id: row.id})
SET d += row.fields
WITH d
MATCH (d)-[old:MENTIONS|TITLED]->(named)
WITH old, named, CASE WHEN named:Title THEN named.id END AS title
DELETE old
RETURN DISTINCT title

// name: mark_documents
UNWIND $rows AS id
MATCH (d:Document {tenant: $tenant, collection: $collection, document_id: id})
USING INDEX SEEK d:Document(tenant, collection, document_id)
SET d.status = $status

// name: document_states
UNWIND $ids AS id
MATCH (d:Document {tenant: $tenant, collection: $collection, document_id: id})
USING INDEX SEEK d:Document(tenant, collection, document_id)
RETURN d.document_id, d.chunk_count, d.status, d.ingested_at

// name: title_documents
UNWIND $rows AS row
MATCH (d:Document {tenant: $tenant, collection: $collection, document_id: row.document})
USING INDEX SEEK d:Document(tenant, collection, document_id)
MERGE (t:Title {tenant: $tenant, collection: $collection, id: row.concept})
MERGE (d)-[:TITLED]->(t)

// name: forget_titles
// Title nodes go with the last document that is called so.
UNWIND $rows AS id
MATCH (t:Title {tenant: $tenant, collection: $collection, id: id})
USING INDEX SEEK t:Title(tenant, collection, id)
WHERE NOT EXISTS { (t)<-[:TITLED]-() }
DELETE t

// name: mention_in_documents
UNWIND $rows AS row
MATCH (d:Document {tenant: $tenant, collection: $collection, document_id: row.document})
USING INDEX SEEK d:Document(tenant, collection, document_id)
MATCH (c:Concept {tenant: $tenant, collection: $collection, id: row.concept}) USING INDEX SEEK c:Concept(id)
MERGE (d)-[m:MENTIONS]->(c)
SET m.frequency = row.frequency, m.relevance = row.relevance

// name: merge_chunks
UNWIND $rows AS row
MERGE (p:Chunk {tenant: $tenant, collection: $collection, chunk_id: row.id})
SET p += row.fields
WITH p
MATCH (p)-[old:FROM_DOCUMENT|NEXT_CHUNK]->()
DELETE old

// name: tie_chunks_to_documents
UNWIND $rows AS id
MATCH (d:Document {tenant: $tenant, collection: $collection, document_id: id})
USING INDEX SEEK d:Document(tenant, collection, document_id)
MATCH (p:Chunk {tenant: $tenant, collection: $collection, document_id: id})
USING INDEX SEEK p:Chunk(tenant, collection, document_id)
MERGE (p)-[:FROM_DOCUMENT]->(d)

// name: chain_chunks
UNWIND $rows AS id
MATCH (p:Chunk {tenant: $tenant, collection: $collection, document_id: id})
USING INDEX SEEK p:Chunk(tenant, collection, document_id)
MATCH (next:Chunk {tenant: $tenant, collection: $collection, chunk_id: p.next_chunk_id})
USING INDEX SEEK next:Chunk(tenant, collection, chunk_id)
MERGE (p)-[:NEXT_CHUNK]->(next)

// name: count_mentions
// A passage may be named before its chunk is written: then it is a node without `document_id`.
UNWIND $rows AS row
MERGE (p:Chunk {tenant: $tenant, collection: $collection, chunk_id: row.passage})
WITH p, row
MATCH (c:Concept {tenant: $tenant, collection: $collection, id: row.concept}) USING INDEX SEEK c:Concept(id)
WHERE NOT EXISTS { (p)-[:{mentions}]->(c) }
WITH c, count(*) AS added
SET c.degree = c.degree + added

// name: mention_in_chunks
UNWIND $rows AS row
MATCH (p:Chunk {tenant: $tenant, collection: $collection, chunk_id: row.passage})
USING INDEX SEEK p:Chunk(tenant, collection, chunk_id)
MATCH (c:Concept {tenant: $tenant, collection: $collection, id: row.concept}) USING INDEX SEEK c:Concept(id)
MERGE (p)-[m:{kind}]->(c)
SET m.frequency = row.frequency, m.role = row.role

// name: relate_concepts
UNWIND $rows AS row
MATCH (s:Concept {tenant: $tenant, collection: $collection, id: row.subject}) USING INDEX SEEK s:Concept(id)
MATCH (o:Concept {tenant: $tenant, collection: $collection, id: row.object}) USING INDEX SEEK o:Concept(id)
MERGE (s)-[t:{predicate} {passage_id: row.passage_id}]->(o)
SET t.confidence = row.confidence, t.comparison = row.comparison, t.use_case = row.use_case

// ---------------------------------------------------------------- removing
// The first three return the ids of the concepts that may be named by nothing now.

// name: remove_chunks
UNWIND $rows AS id
MATCH (p:Chunk {tenant: $tenant, collection: $collection, chunk_id: id})
USING INDEX SEEK p:Chunk(tenant, collection, chunk_id)
OPTIONAL MATCH (p)-[:{mentions}]->(c:Concept)
WITH p, collect(DISTINCT c) AS concepts
FOREACH (c IN concepts | SET c.degree = c.degree - 1)
DETACH DELETE p
WITH concepts UNWIND concepts AS c
RETURN DISTINCT c.id

// name: remove_triples
// {said} is `said_by_passage` for every predicate, joined by UNION ALL: an index is over one type of edges.
UNWIND $rows AS id
CALL { {said} }
DELETE t
WITH subject, object UNWIND [subject, object] AS concept
RETURN DISTINCT concept

// name: said_by_passage
WITH id
MATCH (s:Concept)-[t:{predicate} {passage_id: id}]->(o:Concept) USING INDEX SEEK t:{predicate}(passage_id)
WHERE s.tenant = $tenant AND s.collection = $collection
RETURN t, s.id AS subject, o.id AS object

// name: remove_documents
UNWIND $rows AS id
MATCH (d:Document {tenant: $tenant, collection: $collection, document_id: id})
USING INDEX SEEK d:Document(tenant, collection, document_id)
OPTIONAL MATCH (d)-[:MENTIONS|TITLED]->(named)
WITH d, collect(named.id) AS concepts
DETACH DELETE d
WITH concepts UNWIND concepts AS concept
RETURN DISTINCT concept

// name: remove_concepts
// Those that nothing names any more.
UNWIND $rows AS id
MATCH (c:Concept {tenant: $tenant, collection: $collection, id: id}) USING INDEX SEEK c:Concept(id)
WHERE NOT EXISTS { (c)--() }
OPTIONAL MATCH (t:Title {tenant: $tenant, collection: $collection, id: id})
USING INDEX SEEK t:Title(tenant, collection, id)
WITH c, t WHERE t IS NULL
DELETE c

// name: drop_chunks
// In all four the last condition lets the index over all three answer.
MATCH (n:Chunk) WHERE n.tenant = $tenant AND n.collection = $collection AND n.chunk_id IS NOT NULL
WITH n LIMIT $limit DETACH DELETE n
RETURN count(*)

// name: drop_documents
MATCH (n:Document) WHERE n.tenant = $tenant AND n.collection = $collection AND n.document_id IS NOT NULL
WITH n LIMIT $limit DETACH DELETE n
RETURN count(*)

// name: drop_titles
MATCH (n:Title) WHERE n.tenant = $tenant AND n.collection = $collection AND n.id IS NOT NULL
WITH n LIMIT $limit DETACH DELETE n
RETURN count(*)

// name: drop_concepts
MATCH (n:Concept) WHERE n.tenant = $tenant AND n.collection = $collection AND n.key IS NOT NULL
WITH n LIMIT $limit DETACH DELETE n
RETURN count(*)

// name: drop_collection
MATCH (n:Collection {tenant: $tenant, collection: $collection})
DELETE n

// ---------------------------------------------------------------- reading
// The driver takes longer to unpack a row than the server to find it. So the first four answer with one row of lists, name
// ids that were given by their place among $ids, and roles by their place in `Role` ($places).

// name: concepts_by_id
UNWIND range(0, size($ids) - 1) AS at
MATCH (c:Concept {tenant: $tenant, collection: $collection, id: $ids[at]}) USING INDEX SEEK c:Concept(id)
RETURN collect(at), collect(coalesce(c.long_key, c.key)), collect(c.name), collect(c.degree)

// name: concepts_of_passages
UNWIND range(0, size($ids) - 1) AS at
MATCH (p:Chunk {tenant: $tenant, collection: $collection, chunk_id: $ids[at]})
USING INDEX SEEK p:Chunk(tenant, collection, chunk_id)
MATCH (p)-[m:{mentions}]->(c:Concept)
RETURN collect(at), collect(m.frequency), collect($places[m.role]),
       collect(c.id), collect(coalesce(c.long_key, c.key)), collect(c.name), collect(c.degree)

// name: passages_of_concepts
UNWIND range(0, size($ids) - 1) AS at
MATCH (c:Concept {tenant: $tenant, collection: $collection, id: $ids[at]}) USING INDEX SEEK c:Concept(id)
WHERE c.degree > 0
MATCH (c)<-[m:{mentions}]-(p:Chunk)
RETURN collect(at), collect(p.chunk_id), collect(m.frequency), collect($places[m.role])

// name: passages_about_concepts
// Chunks of the documents that are titled so.
UNWIND range(0, size($ids) - 1) AS at
MATCH (t:Title {tenant: $tenant, collection: $collection, id: $ids[at]})
USING INDEX SEEK t:Title(tenant, collection, id)
MATCH (c:Concept {tenant: $tenant, collection: $collection, id: $ids[at]}) USING INDEX SEEK c:Concept(id)
MATCH (t)<-[:TITLED]-(:Document)<-[:FROM_DOCUMENT]-(p:Chunk)
RETURN collect(at), collect(p.chunk_id), collect(p.position)

// name: triples_of_concepts
UNWIND $ids AS id
MATCH (c:Concept {tenant: $tenant, collection: $collection, id: id}) USING INDEX SEEK c:Concept(id)
MATCH (c)-[t:{predicates}]-(:Concept)
WITH DISTINCT t, startNode(t) AS s, endNode(t) AS o
RETURN coalesce(s.long_key, s.key), type(t), coalesce(o.long_key, o.key),
       t.confidence, t.passage_id, t.comparison, t.use_case

// name: passage_ids
MATCH (p:Chunk) USING INDEX SEEK p:Chunk(tenant, collection, chunk_id)
WHERE p.tenant = $tenant AND p.collection = $collection AND p.chunk_id > $after AND p.document_id IS NOT NULL
RETURN p.chunk_id ORDER BY p.chunk_id LIMIT $limit

// name: search_concepts
// A hit in the name counts most, in the description least.
CALL db.index.fulltext.queryNodes($index, $query, {limit: $candidates}) YIELD node AS c
WHERE c.tenant = $tenant AND c.collection = $collection
WITH c, 10 * size([term IN $terms WHERE term IN c.name_terms]) + 5 * size([term IN $terms WHERE term IN c.alias_terms])
      + size([term IN $terms WHERE term IN c.description_terms]) AS score
ORDER BY score DESC, coalesce(c.long_key, c.key) LIMIT $limit
RETURN coalesce(c.long_key, c.key), c.name, c.aliases, c.description, c.category, c.difficulty, c.tags

// name: search_chunks
CALL db.index.fulltext.queryNodes($index, $query, {limit: $candidates}) YIELD node AS p
WHERE p.tenant = $tenant AND p.collection = $collection
WITH p, size([term IN $terms WHERE term IN p.preview_terms]) AS score
ORDER BY score DESC, p.chunk_id LIMIT $limit
RETURN p.chunk_id
