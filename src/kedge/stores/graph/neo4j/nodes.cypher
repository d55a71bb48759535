// Nodes and edges of users. Every statement is given $tenant and $collection; nodes are found by a seek, see
// concepts.cypher.

// ---------------------------------------------------------------- writing

// name: put_nodes
// New fields; the old names go.
UNWIND $rows AS row
MERGE (n:UserNode {tenant: $tenant, collection: $collection, id: row.id})
ON CREATE SET n.created_at = $now
SET n += row.fields, n.updated_at = $now
WITH n
MATCH (n)<-[old:NAMES]-(name)
DELETE old
WITH DISTINCT name WHERE NOT EXISTS { (name)-[:NAMES]->() }
DELETE name

// name: put_names
UNWIND $rows AS row
MATCH (n:UserNode {tenant: $tenant, collection: $collection, id: row.id})
USING INDEX SEEK n:UserNode(tenant, collection, id)
MERGE (name:UserName {tenant: $tenant, collection: $collection, key: row.key})
MERGE (name)-[:NAMES]->(n)

// name: known_nodes
UNWIND $ids AS id
MATCH (n:UserNode {tenant: $tenant, collection: $collection, id: id})
USING INDEX SEEK n:UserNode(tenant, collection, id)
RETURN n.id

// name: take_edges
// Removes edges that are written anew; returns when each was made.
UNWIND $rows AS row
MATCH ()-[e:RELATES {key: row.key}]->() USING INDEX SEEK e:RELATES(key)
WITH e, row, e.created_at AS made
DELETE e
RETURN row.key, made

// name: put_edges
UNWIND $rows AS row
MATCH (s:UserNode {tenant: $tenant, collection: $collection, id: row.source})
USING INDEX SEEK s:UserNode(tenant, collection, id)
MATCH (t:UserNode {tenant: $tenant, collection: $collection, id: row.target})
USING INDEX SEEK t:UserNode(tenant, collection, id)
CREATE (s)-[e:RELATES]->(t)
SET e = row.fields, e.created_at = row.created_at, e.updated_at = $now

// ---------------------------------------------------------------- removing

// name: cut_edges
// All edges of these nodes; returns their ids.
UNWIND $ids AS id
MATCH (n:UserNode {tenant: $tenant, collection: $collection, id: id})
USING INDEX SEEK n:UserNode(tenant, collection, id)
MATCH (n)-[e:RELATES]-()
WITH DISTINCT e
WITH e, e.id AS id
DELETE e
RETURN id

// name: remove_nodes
// With those of their names that no other node has; returns the ids of the nodes.
UNWIND $ids AS id
MATCH (n:UserNode {tenant: $tenant, collection: $collection, id: id})
USING INDEX SEEK n:UserNode(tenant, collection, id)
OPTIONAL MATCH (n)<-[:NAMES]-(name)
WITH n, n.id AS gone, collect(name) AS names
DETACH DELETE n
WITH gone, names
UNWIND CASE WHEN names = [] THEN [null] ELSE names END AS name
WITH gone, name, name IS NOT NULL AND NOT EXISTS { (name)-[:NAMES]->() } AS idle
FOREACH (one IN CASE WHEN idle THEN [name] ELSE [] END | DELETE one)
RETURN DISTINCT gone

// name: remove_edges
UNWIND $ids AS key
MATCH ()-[e:RELATES {key: key}]->() USING INDEX SEEK e:RELATES(key)
WITH e, e.id AS id
DELETE e
RETURN id

// name: drop_names
MATCH (n:UserName) WHERE n.tenant = $tenant AND n.collection = $collection AND n.key IS NOT NULL
WITH n LIMIT $limit DETACH DELETE n
RETURN count(*)

// name: drop_nodes
MATCH (n:UserNode) WHERE n.tenant = $tenant AND n.collection = $collection AND n.id IS NOT NULL
WITH n LIMIT $limit DETACH DELETE n
RETURN count(*)

// ---------------------------------------------------------------- reading

// name: nodes_by_id
UNWIND $ids AS id
MATCH (n:UserNode {tenant: $tenant, collection: $collection, id: id})
USING INDEX SEEK n:UserNode(tenant, collection, id)
RETURN n.id, n.type, n.title, n.description, n.aliases, n.properties, n.created_at, n.updated_at

// name: edges_by_key
UNWIND $ids AS key
MATCH ()-[e:RELATES {key: key}]->() USING INDEX SEEK e:RELATES(key)
RETURN e.id, startNode(e).id, endNode(e).id, e.type, e.properties, e.created_at, e.updated_at

// name: node_page
MATCH (n:UserNode) USING INDEX SEEK n:UserNode(tenant, collection, id)
WHERE n.tenant = $tenant AND n.collection = $collection AND n.id > $after AND ($type IS NULL OR n.type = $type)
RETURN n.id, n.type, n.title, n.description, n.aliases, n.properties, n.created_at, n.updated_at
ORDER BY n.id LIMIT $limit

// name: edge_page
MATCH ()-[e:RELATES]->() USING INDEX SEEK e:RELATES(key)
WHERE e.key > $after AND e.key < $end AND ($type IS NULL OR e.type = $type)
RETURN e.id, startNode(e).id, endNode(e).id, e.type, e.properties, e.created_at, e.updated_at
ORDER BY e.key LIMIT $limit

// name: edge_page_of_node
MATCH (n:UserNode {tenant: $tenant, collection: $collection, id: $node})
USING INDEX SEEK n:UserNode(tenant, collection, id)
MATCH (n)-[e:RELATES]-()
WITH DISTINCT e WHERE e.key > $after AND ($type IS NULL OR e.type = $type)
RETURN e.id, startNode(e).id, endNode(e).id, e.type, e.properties, e.created_at, e.updated_at
ORDER BY e.key LIMIT $limit

// name: nodes_named
UNWIND $keys AS key
MATCH (name:UserName {tenant: $tenant, collection: $collection, key: key})
USING INDEX SEEK name:UserName(tenant, collection, key)
MATCH (name)-[:NAMES]->(n:UserNode)
WITH key, n.id AS id ORDER BY id
RETURN key, collect(id)[..$limit]

// name: relations
// For each node and type, how many edges lead out and how many in.
UNWIND $ids AS id
MATCH (n:UserNode {tenant: $tenant, collection: $collection, id: id})
USING INDEX SEEK n:UserNode(tenant, collection, id)
MATCH (n)-[e:RELATES]-()
WITH id, e.type AS type, startNode(e) = n AS outgoing, endNode(e) = n AS incoming, e
WITH DISTINCT id, type, outgoing, incoming, e
RETURN id, type, sum(CASE WHEN outgoing THEN 1 ELSE 0 END), sum(CASE WHEN incoming THEN 1 ELSE 0 END)

// name: follow_out
UNWIND $ids AS id
MATCH (n:UserNode {tenant: $tenant, collection: $collection, id: id})
USING INDEX SEEK n:UserNode(tenant, collection, id)
MATCH (n)-[e:RELATES]->(other) WHERE e.type = $type
RETURN id, e.id, other.id, e.key AS key ORDER BY key LIMIT $limit

// name: follow_in
UNWIND $ids AS id
MATCH (n:UserNode {tenant: $tenant, collection: $collection, id: id})
USING INDEX SEEK n:UserNode(tenant, collection, id)
MATCH (n)<-[e:RELATES]-(other) WHERE e.type = $type
RETURN id, e.id, other.id, e.key AS key ORDER BY key LIMIT $limit

// name: count_nodes
MATCH (n:UserNode) WHERE n.tenant = $tenant AND n.collection = $collection AND n.id IS NOT NULL
RETURN count(n)

// name: count_edges
MATCH ()-[e:RELATES]->() USING INDEX SEEK e:RELATES(key)
WHERE e.key > $after AND e.key < $end
RETURN count(e)
