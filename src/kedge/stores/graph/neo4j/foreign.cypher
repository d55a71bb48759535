// Reading a database that somebody else fills. Nothing here writes. $own names the labels that Kedge gives its own nodes.

// name: ids_of_nodes
MATCH (n)
WHERE n.id IS NOT NULL
  AND NOT (n.tenant IS NOT NULL AND n.collection IS NOT NULL AND any(label IN labels(n) WHERE label IN $own))
RETURN count(n), count(DISTINCT toStringOrNull(n.id))

// name: all_nodes
MATCH (n)
WHERE NOT (n.tenant IS NOT NULL AND n.collection IS NOT NULL AND any(label IN labels(n) WHERE label IN $own))
RETURN elementId(n), labels(n), properties(n)

// name: all_relationships
MATCH (a)-[r]->(b)
WHERE NOT (a.tenant IS NOT NULL AND a.collection IS NOT NULL AND any(label IN labels(a) WHERE label IN $own))
  AND NOT (b.tenant IS NOT NULL AND b.collection IS NOT NULL AND any(label IN labels(b) WHERE label IN $own))
RETURN elementId(r), type(r), elementId(a), a.id, elementId(b), b.id, properties(r)
