// name: lock_collection
// One writer at a time in a collection: two would wait for each other's concepts in a circle, or count a passage twice.
MERGE (n:Collection {tenant: $tenant, collection: $collection})
SET n.collection = $collection

// name: server_version
CALL dbms.components() YIELD versions, edition
RETURN versions[0], edition
